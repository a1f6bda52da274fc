// Goal: the operator's socket answers a line with lines, belongs to user and group, takes the place
// of one that a killed server left and of nothing else, and no peer can hold it up. Method: the
// socket itself, with peers of the same thread that never block; times are given.
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/ops/admin_socket.h"

static char directory[64], path[CM_ADMIN_PATH_MAX];
static uint32_t asked;

static void answer(void *user, const char *request, cm_admin_reply *reply)
{
    (void)user;
    asked++;
    if (strcmp(request, "much") == 0) {
        static char line[1001];
        memset(line, 'x', sizeof line - 1);
        for (uint32_t i = 0; i < 2000; i++) {
            cm_admin_write_line(reply, line);
        }
    } else {
        cm_admin_write_line(reply, "{\"first\":1}");
        cm_admin_write_line(reply, request);
    }
}

static void setup(void)
{
    strcpy(directory, "/tmp/carom-admin.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/admin.sock", directory);
    asked = 0;
}

static void teardown(void)
{
    unlink(path);
    rmdir(directory);
}

static cm_admin *create(char *error, size_t error_size)
{
    cm_admin_def def = {.path = path, .answer = answer};
    return cm_admin_create(&def, error, error_size);
}

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int peer = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(connect(peer, (struct sockaddr *)&address, sizeof address), 0, "%s",
                 strerror(errno));
    fcntl(peer, F_SETFL, O_NONBLOCK);
    return peer;
}

// What there is to read now; -1 at the end.
static ssize_t take(int peer, char *text, size_t size)
{
    ssize_t got = read(peer, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    return got == 0 ? -1 : got < 0 && errno != EAGAIN ? -1 : got < 0 ? 0 : got;
}

TestSuite(admin, .init = setup, .fini = teardown);

Test(admin, a_line_is_answered_by_lines)
{
    char error[256] = "", text[256];
    cm_admin *admin = create(error, sizeof error);
    cr_assert_not_null(admin, "%s", error);
    struct stat file;
    cr_assert_eq(stat(path, &file), 0);
    cr_expect_eq(file.st_mode & 0777, 0660);
    int peer = dial();
    cm_admin_turn(admin, 1);
    cr_assert_eq(write(peer, "hal", 3), 3); // in two pieces
    cm_admin_turn(admin, 2);
    cr_expect_eq(take(peer, text, sizeof text), 0);
    cr_assert_eq(write(peer, "lo\n", 3), 3);
    cm_admin_turn(admin, 3);
    cr_expect_gt(take(peer, text, sizeof text), 0);
    cr_expect_str_eq(text, "{\"first\":1}\nhallo\n\n");
    cr_expect_eq(take(peer, text, sizeof text), -1, "closed");
    cr_expect_eq(asked, 1);
    close(peer);
    cm_admin_destroy(admin);
    cr_expect_neq(stat(path, &file), 0, "taken away");
}

Test(admin, its_place_is_taken_with_care)
{
    char error[256] = "";
    cm_admin *admin = create(error, sizeof error);
    cr_assert_not_null(admin);
    cr_expect_null(create(error, sizeof error), "a live one");
    cr_expect_not_null(strstr(error, "another server"), "%s", error);
    cm_admin_destroy(admin);
    // One that nobody listens on: bound, and closed.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int left = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(left, (struct sockaddr *)&address, sizeof address), 0);
    close(left);
    admin = create(error, sizeof error);
    cr_expect_not_null(admin, "%s", error);
    cm_admin_destroy(admin);
    FILE *file = fopen(path, "w");
    fclose(file);
    cr_expect_null(create(error, sizeof error), "something else");
    cr_expect_eq(access(path, F_OK), 0, "which stays");
    unlink(path);
    cm_admin_def def = {.path = "/tmp/a/name/that/is/longer/than/the/hundred/and/four/bytes/that/a/"
                                "socket/of/this/system/can/have/as/its/path",
                        .answer = answer};
    cr_expect_null(cm_admin_create(&def, error, sizeof error));
    cr_expect_not_null(strstr(error, "103"), "%s", error);
}

Test(admin, nobody_holds_it_up)
{
    char error[256] = "", text[65536], long_line[CM_ADMIN_REQUEST_MAX + 1];
    cm_admin *admin = create(error, sizeof error);
    int silent[CM_ADMIN_PEERS_MAX];
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        silent[i] = dial();
    }
    cm_admin_turn(admin, 1000);
    int late = dial();
    cr_assert_eq(write(late, "me\n", 3), 3);
    cm_admin_turn(admin, 2000);
    cr_expect_eq(take(late, text, sizeof text), 0, "all places are taken");
    struct pollfd waits = {.fd = cm_admin_descriptor(admin), .events = POLLIN};
    cr_expect_eq(poll(&waits, 1, 0), 0, "and who waits does not wake the loop");
    cm_admin_turn(admin, 1000 + CM_ADMIN_PATIENCE_US);
    cm_admin_turn(admin, 1001 + CM_ADMIN_PATIENCE_US);
    cr_expect_gt(take(late, text, sizeof text), 0);
    cr_expect_eq(take(silent[0], text, sizeof text), -1);
    // A line without an end.
    int rude = dial();
    memset(long_line, 'a', sizeof long_line);
    cr_assert_gt(write(rude, long_line, sizeof long_line), 0);
    for (uint64_t turn = 0; turn < 4; turn++) {
        cm_admin_turn(admin, 2 * CM_ADMIN_PATIENCE_US + turn);
    }
    cr_expect_gt(take(rude, text, sizeof text), 0);
    cr_expect_not_null(strstr(text, "too long"), "%s", text);
    cr_expect_eq(asked, 1);
    // One that asks for much and reads it slowly gets it all, up to the bound.
    int slow = dial();
    cr_assert_eq(write(slow, "much\n", 5), 5);
    size_t size = 0;
    ssize_t got = 0;
    for (uint64_t turn = 0; turn < 1000 && got >= 0; turn++) {
        cm_admin_turn(admin, 3 * CM_ADMIN_PATIENCE_US + turn);
        got = take(slow, text, sizeof text);
        size += got > 0 ? (size_t)got : 0;
    }
    cr_expect_leq(size, CM_ADMIN_REPLY_MAX);
    cr_expect_gt(size, CM_ADMIN_REPLY_MAX - 2000);
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        close(silent[i]);
    }
    close(late);
    close(rude);
    close(slow);
    cm_admin_destroy(admin);
}

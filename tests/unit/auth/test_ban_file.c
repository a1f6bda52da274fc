// Goal: a file of bans is taken as it is written, or not at all, with the line that is wrong.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/auth/ban_file.h"
#include "shared/wire/address.h"

TestSuite(ban_file);

static bool read_text(const char *text, cm_ban_list *list, char error[256])
{
    char path[] = "/tmp/carom_bans_XXXXXX";
    int descriptor = mkstemp(path);
    size_t size = strlen(text);
    cr_assert(descriptor >= 0 && write(descriptor, text, size) == (ssize_t)size);
    close(descriptor);
    bool good = cm_ban_file_read(path, list, error, 256);
    unlink(path);
    return good;
}

Test(ban_file, ids_and_addresses_are_taken)
{
    cm_ban_list list;
    char error[256];
    cr_assert(read_text("# who cheated\n 9\t# in May\r\n\n18446744073709551615\n192.0.2.7\n9",
                        &list, error),
              "%s", error);
    cr_expect_eq(list.of[0].count, 2);
    cr_expect(cm_bans_have(&list.of[0], 9) && cm_bans_have(&list.of[0], UINT64_MAX));
    cr_expect_eq(list.of[1].count, 1);
    cr_expect(cm_bans_have(&list.of[1], inet_addr("192.0.2.7")));
    cm_ban_list_free(&list);
    // Of IPv6 the /64, however it is written; what is mapped is IPv4.
    cr_assert(
        read_text("2001:db8:0:1::7\n2001:db8:0:1::/64\n::ffff:192.0.2.7\n192.0.2.7", &list, error),
        "%s", error);
    cr_expect_eq(list.of[1].count, 2);
    uint8_t ip[CM_ADDRESS_BYTES];
    cr_assert(cm_address_read_ip("2001:db8:0:1:ffff::1", ip));
    cr_expect(cm_bans_have(&list.of[1], cm_address_network(ip)));
    cr_assert(cm_address_read_ip("2001:db8:0:2::7", ip));
    cr_expect_not(cm_bans_have(&list.of[1], cm_address_network(ip)));
    cr_expect(cm_bans_have(&list.of[1], inet_addr("192.0.2.7")));
    cm_ban_list_free(&list);
    cr_assert(read_text("", &list, error));
    cr_expect_eq(list.of[0].count + list.of[1].count, 0);
    cm_ban_list_free(&list);
}

Test(ban_file, what_is_wrong_is_told_with_its_line)
{
    static const char *const wrong[] = {
        "1\n\n0\n",
        "1\n\n-2\n",
        "1\n\n18446744073709551616\n",
        "1\n\n1.2.3\n",
        "1\n\n1.2.3.4.5\n",
        "1\n\n2 3\n",
        "1\n\nfe80::1%lo\n",
        "1\n\n+4\n",
        "1\n\n0x10\n",
        "1\n\n1.2.3.4:5\n",
        "1\n\n1.2.3.4/64\n",
        "1\n\n[::1]:5\n",
        "1\n\n2001:db8::/48\n",
    };
    cm_ban_list list;
    char error[256], line[600];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_not(read_text(wrong[i], &list, error), "%s", wrong[i]);
        cr_expect_not_null(strstr(error, ":3: expected a client id"), "%s", error);
        cr_expect_eq(list.of[0].count + list.of[0].capacity, 0);
    }
    memset(line, ' ', sizeof line);
    line[sizeof line - 1] = '\0';
    cr_expect_not(read_text(line, &list, error));
    cr_expect_not_null(strstr(error, ":1: the line is too long"), "%s", error);
    cr_expect_not(cm_ban_file_read("/nowhere/bans", &list, error, sizeof error));
    cr_expect_str_eq(error, "/nowhere/bans: No such file or directory");
    cr_expect_not(cm_ban_file_read("/tmp", &list, error, sizeof error), "a directory");
}

Test(ban_file, no_more_are_taken_than_are_kept)
{
    cm_ban_list list;
    char error[256];
    char *text = malloc(8 * (CM_BANS_MAX + 2)), *at = text;
    for (uint32_t i = 1; i <= CM_BANS_MAX + 1; i++) {
        at += sprintf(at, "%u\n", i);
    }
    cr_expect_not(read_text(text, &list, error));
    cr_expect_not_null(strstr(error, ":65537: more than are kept"), "%s", error);
    at[-1] = '\0';
    *strrchr(text, '\n') = '\0';
    cr_expect(read_text(text, &list, error), "%s", error);
    cr_expect_eq(list.of[0].count, CM_BANS_MAX);
    cm_ban_list_free(&list);
    free(text);
}

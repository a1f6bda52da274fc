// Goal: `carom token` makes keys and tokens that it reads again, keeps keys to itself, and says
// what is wrong. Method: the real binary in a folder of its own.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/wire/token.h"
#include "tests/unit/cli/command.h"

static command_result result;
static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_tok_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(token_command, .init = make_folder, .fini = remove_folder);

// `format` may name the folder and one text.
static void run(const char *format, const char *text)
{
    char command[2048];
    snprintf(command, sizeof command, format, folder, text);
    run_command(command, &result);
}

static void issue(char token[1100])
{
    run("token keygen --out %s/key --id 5%s", "");
    cr_assert_eq(result.status, 0, "%s", result.err);
    run("token issue --key %s/key --client-id 18446744073709551615 --server "
        "127.0.0.1:7777,10.0.0.1:1 --room arena --name Ann --user-data 00fF --address 10.0.0.9 "
        "--expires 60 %s",
        "");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_eq(strcspn(result.out, "\n"), strlen(result.out) - 1, "one line");
    snprintf(token, 1100, "%.*s", (int)strcspn(result.out, "\n"), result.out);
}

Test(token_command, reads_what_it_issued)
{
    char token[1100], path[80];
    issue(token);
    snprintf(path, sizeof path, "%s/key", folder);
    struct stat about;
    cr_assert_eq(stat(path, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    run("token inspect --key %s/key -- %s", token);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_not_null(strstr(result.out, "\"client_id\":\"18446744073709551615\",\"key_id\":5,"));
    cr_expect_not_null(strstr(result.out, "\"expired\":false"));
    cr_expect_not_null(strstr(result.out, "\"servers\":[\"127.0.0.1:7777\",\"10.0.0.1:1\"]"));
    cr_expect_not_null(strstr(result.out,
                              "\"address\":\"10.0.0.9\",\"room\":\"arena\",\"name\":\"Ann\","
                              "\"spectates\":false,\"user_data\":\"00ff\""));
    token[40] = token[40] == 'A' ? 'B' : 'A'; // still of the alphabet, whatever the key was
    run("token inspect --key %s/key -- %s", token);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "changed, cut short, or sealed by none"), "%s",
                       result.err);
}

// The part that clients read says where they go, and with which key: whoever passes a token on can
// change it.
Test(token_command, says_when_the_clear_part_is_another)
{
    char token[1100], changed[1100];
    issue(token);
    run("token inspect --key %s/key -- %s", token);
    cr_expect_not_null(strstr(result.out, "\"clear_part_differs\":null"), "%s", result.out);
    static const char *const names[] = {"servers", "connection key"};
    for (uint32_t i = 0; i < 2; i++) {
        cm_token_pass pass;
        cr_assert(cm_token_pass_read(token, &pass));
        if (i == 0) {
            pass.servers[1].ip[15]++;
        } else {
            pass.key[31] ^= 1;
        }
        cr_assert(cm_token_pass_write(&pass, changed, sizeof changed));
        run("token inspect --key %s/key -- %s", changed);
        cr_expect_eq(result.status, 1);
        char member[64];
        snprintf(member, sizeof member, "\"clear_part_differs\":\"%s\"", names[i]);
        cr_expect_not_null(strstr(result.out, member), "%s", result.out);
        cr_expect_not_null(strstr(result.out, "\"10.0.0.1:1\""), "the sealed one: %s", result.out);
        cr_expect_not_null(strstr(result.err, names[i]), "%s", result.err);
    }
}

// A file may hold several keys; the first issues.
Test(token_command, keys_rotate)
{
    char token[1100], command[256];
    issue(token);
    snprintf(command, sizeof command,
             "cd %s && umask 077 && (echo '# new'; echo 6 $(printf '%%064d' 7); cat key) > both",
             folder);
    cr_assert_eq(system(command), 0);
    run("token inspect --key %s/both -- %s", token);
    cr_expect_eq(result.status, 0, "%s", result.err);
    run("token issue --key %s/both --client-id 1 --server 1.2.3.4:5%s", "");
    cr_assert_eq(result.status, 0, "%s", result.err);
    snprintf(token, sizeof token, "%.*s", (int)strcspn(result.out, "\n"), result.out);
    run("token inspect --key %s/both -- %s", token);
    cr_expect_not_null(strstr(result.out, "\"key_id\":6,"));
    run("token inspect --key %s/key -- %s", token);
    cr_expect_eq(result.status, 2);
}

Test(token_command, keeps_keys_to_itself)
{
    char token[1100], path[80];
    issue(token);
    run("token keygen --out %s/key%s", "");
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "File exists"), "%s", result.err);
    snprintf(path, sizeof path, "%s/key", folder);
    static const struct {
        mode_t mode;
        int status;
    } modes[] = {{0400, 0}, {0440, 0}, {0604, 2}, {0660, 2}, {0602, 2}, {0644, 2}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        cr_assert_eq(chmod(path, modes[i].mode), 0);
        run("token inspect --key %s/key -- %s", token);
        cr_expect_eq(result.status, modes[i].status, "%o: %s", modes[i].mode, result.err);
        cr_expect(modes[i].status == 0 || strstr(result.err, "expected mode") != NULL);
    }
    if (geteuid() == 0) {
        cr_assert_eq(chmod(path, 0600) + chown(path, 4242, 4242), 0);
        run("token inspect --key %s/key -- %s", token);
        cr_expect_eq(result.status, 2);
        cr_expect_not_null(strstr(result.err, "another user"), "%s", result.err);
    }
    run("token inspect --key %s -- %s", token);
    cr_expect_not_null(strstr(result.err, "not a regular file"), "%s", result.err);
}

Test(token_command, says_what_is_wrong)
{
    char token[1100];
    issue(token);
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"token%.0s", "expected keygen, issue, inspect or api-key"},
        {"token fly%.0s", "expected keygen, issue, inspect or api-key"},
        {"token keygen%.0s", "expected --out FILE"},
        {"token issue --client-id 1 --server 1.2.3.4:5%.0s", "expected --key FILE"},
        {"token issue --key %s/none --client-id 1 --server 1.2.3.4:5", "cannot be read"},
        {"token issue --key %s/key --server 1.2.3.4:5", "expected --client-id N"},
        {"token issue --key %s/key --client-id -1 --server 1.2.3.4:5", "--client-id"},
        {"token issue --key %s/key --client-id 18446744073709551616x --server 1.2.3.4:5",
         "--client-id"},
        {"token issue --key %s/key --client-id 18446744073709551616 --server 1.2.3.4:5",
         "--client-id: '18446744073709551616', expected"},
        {"token issue --key %s/key --client-id ' 1' --server 1.2.3.4:5", "--client-id"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:5,", "A.B.C.D:PORT"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:5 --address there", "--address"},
        {"token issue --key %s/key --fly", "token issue: unknown option '--fly', see 'carom help "
                                           "token'"},
        {"token issue --key %s/key --client-id 1", "expected --server"},
        {"token issue --key %s/key --client-id 1 --server localhost:7777", "A.B.C.D:PORT"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:1,1.2.3.4:2,1.2.3.4:3,"
         "1.2.3.4:4,1.2.3.4:5",
         "more than 4 addresses"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:5 --user-data 0", "hexadecimal"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:5 --name "
         "012345678901234567890123456789012",
         "name"},
        {"token issue --key %s/key --client-id 1 --server 1.2.3.4:5 --expires 0", "expires"},
        {"token inspect --key %s/key", "expected a token"},
        {"token inspect --key %s/key hello", "not a token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(cases[i].arguments, "");
        cr_expect_eq(result.status, 2, "%s", cases[i].arguments);
        cr_expect_not_null(strstr(result.err, cases[i].says), "%s: %s", cases[i].arguments,
                           result.err);
        cr_expect_str_empty(result.out);
    }
}

// Goal: an address has one meaning however it is written or came, and what has none is refused.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "shared/transport/socket_address.h"

Test(address, texts_are_read_back)
{
    static const struct {
        const char *text, *again;
    } good[] = {
        {"1.2.3.4:5", NULL},
        {"0.0.0.0:0", NULL},
        {"255.255.255.255:65535", NULL},
        {"[::]:0", NULL},
        {"[::1]:9400", NULL},
        {"[2001:db8::7]:1", NULL},
        {"[1:2:3:4:5:6:7:8]:65535", NULL},
        {"[2001:DB8:0:0:0:0:0:7]:1", "[2001:db8::7]:1"},
        {"[::ffff:1.2.3.4]:5", "1.2.3.4:5"},
        {"[::ffff:102:304]:5", "1.2.3.4:5"},
        {"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", NULL},
    };
    static const char *const bad[] = {
        "",
        ":",
        "1.2.3.4",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:x",
        "1.2.3.4:+1",
        "1.2.3.4:01",
        "01.2.3.4:5",
        "1.2.3:4",
        "[1.2.3.4]:5",
        "::1:5",
        "[::1]",
        "[::1]5",
        "[::1:5",
        "::1]:5",
        "[]:5",
        "[:]:5",
        "[fe80::1%eth0]:5",
        "[fe80::1%25eth0]:5",
        "[::1 ]:5",
        "[::1]:5 ",
        "[[::1]]:5",
        "[1:2:3:4:5:6:7:8:9]:5",
        "[::g]:5",
        "host:5",
        "[host]:5",
        "1.2.3.4:99999999999999999999",
    };
    char text[CM_ADDRESS_TEXT_MAX], wide[300];
    cm_address address;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert(cm_address_read(good[i].text, &address), "%s", good[i].text);
        cm_address_write(&address, text);
        cr_expect_str_eq(text, good[i].again != NULL ? good[i].again : good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_not(cm_address_read(bad[i], &address), "%s", bad[i]);
    }
    memset(wide, '0', sizeof wide);
    strcpy(wide + sizeof wide - 3, ":5");
    cr_expect_not(cm_address_read(wide, &address));
    cr_expect_not(cm_address_read_network(wide, &(uint64_t){0}));
}

Test(address, kinds_are_told_apart)
{
    static const struct {
        const char *text;
        bool four, loopback, any, host;
    } all[] = {
        {"127.0.0.1", true, true, false, true},
        {"127.255.0.9", true, true, false, true},
        {"0.0.0.0", true, false, true, false},
        {"240.0.0.1", true, false, false, false},
        {"224.0.0.1", true, false, false, false},
        {"223.255.255.255", true, false, false, true},
        {"::ffff:127.0.0.1", true, true, false, true},
        {"::1", false, true, false, true},
        {"::", false, false, true, false},
        {"2001:db8::1", false, false, false, true},
        {"ff02::1", false, false, false, false},
        {"fe80::1", false, false, false, false},
        {"febf::1", false, false, false, false},
        {"fec0::1", false, false, false, true},
        {"fd00::2", false, false, false, true},
        {"::2", false, false, false, true},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint8_t ip[CM_ADDRESS_BYTES];
        cr_assert(cm_address_read_ip(all[i].text, ip));
        cr_expect_eq(cm_address_is_ipv4(ip), all[i].four, "%s", all[i].text);
        cr_expect_eq(cm_address_is_loopback(ip), all[i].loopback, "%s", all[i].text);
        cr_expect_eq(cm_address_is_any(ip), all[i].any, "%s", all[i].text);
        cr_expect_eq(cm_address_is_host(ip), all[i].host, "%s", all[i].text);
    }
}

Test(address, a_network_is_a_64_or_one_of_ipv4)
{
    static const struct {
        const char *of, *text;
    } all[] = {
        {"192.0.2.7", "192.0.2.7"},
        {"::ffff:192.0.2.7", "192.0.2.7"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
        {"2001:db8:1:2::/64", "2001:db8:1:2::/64"},
        {"::1", "::/64"},
        {"ffff:ffff:ffff:ffff::", "ffff:ffff:ffff:ffff::/64"},
    };
    char text[CM_ADDRESS_TEXT_MAX];
    uint64_t network, again;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_assert(cm_address_read_network(all[i].of, &network), "%s", all[i].of);
        cm_address_write_network(network, text);
        cr_expect_str_eq(text, all[i].text);
        cr_assert(cm_address_read_network(text, &again));
        cr_expect_eq(network, again);
    }
    // 192.0.2.7 as it lies in memory is no /64, whatever its order.
    cr_assert(cm_address_read_network("192.0.2.7", &network));
    cr_assert(cm_address_read_network("0:0:702:c0::", &again));
    cr_expect_neq(network, again);
    cr_expect_eq(network, inet_addr("192.0.2.7"), "lists that are kept since before IPv6");
    static const char *const bad[] = {"",           "/64",   "1.2.3.4/64", "2001:db8::/48",
                                      "fe80::1%lo", "[::1]", "[::1]:5",    "9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_not(cm_address_read_network(bad[i], &network), "%s", bad[i]);
    }
}

Test(address, sockets_have_the_same)
{
    static const char *const all[] = {"1.2.3.4:5", "[2001:db8::7]:65535"};
    for (size_t i = 0; i < 2; i++) {
        struct sockaddr_storage socket;
        cm_address address, again;
        cr_assert(cm_address_read(all[i], &address));
        cr_expect_gt(cm_socket_address_write(&address, &socket), 0);
        cr_expect_eq(socket.ss_family, i == 0 ? AF_INET : AF_INET6);
        cr_assert(cm_socket_address_read(&socket, &again));
        cr_expect(cm_address_equal(&address, &again), "%s", all[i]);
        socket.ss_family = AF_UNIX;
        cr_expect_not(cm_socket_address_read(&socket, &again));
    }
}

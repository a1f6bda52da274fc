// A `carom serve` in a child process, for tests of the whole command: its arguments, signals, files
// and what it prints.
#ifndef TESTS_SERVING_H
#define TESTS_SERVING_H

#include <stdint.h>
#include <sys/types.h>

#include "carom/client.h"

typedef struct serving {
    pid_t pid;
    char directory[64];
    char out[128], err[128], ready[128], matches[128];
} serving;

// The program of this build: CAROM_BINARY.
const char *serving_binary(void);
// A child of ours ends with us, however we end.
pid_t serving_fork_child(void);
// Of its own, not that of the working directory.
void serving_use_catalogue(const serving *c);
void serving_make_directory(serving *c);
void serving_remove_directory(const serving *c);
// The program of this build, CAROM_BINARY; `argv` ends with NULL.
void serving_start(serving *c, char **argv);
// From now on the command runs in a copy of this process, with what the test did to it (a disk that
// fails), and hosts all rooms in that one process.
void serving_stay_here(void);
// `carom serve --insecure` on a free port, with matches and ready file in its directory and with
// what else a test gives it, which ends with NULL (and may begin with --listen); until it is ready.
void serving_host(serving *c, char *const more[]);
// Waits for its end: its status, or 128 and the signal.
int serving_finish(const serving *c);
void serving_read_text(const char *path, char *text, size_t size);
// Until `path` has `bytes`; a child that ends first, or ten minutes, are a failure.
void serving_wait_for_size(const serving *c, const char *path, int64_t bytes);
// Until `path` has this text, without quotes of a shell; likewise.
void serving_wait_for_text(const serving *c, const char *path, const char *text);
// Every line of the log is a JSON object that begins with its time, level and event; returns how
// many lines have the event, and of the last one a text member.
uint32_t serving_read_log(const char *path, const char *event, const char *member, char found[256]);
// Until the log has so many lines of an event; likewise.
void serving_wait_for_log(const serving *c, const char *event, uint32_t count);
// What the admin socket answers, its lines.
const char *serving_ask(const serving *c, const char *request);
// GET by HTTP, with a head's lines, each with its end: the status; `body` is what follows the head
// of `text`, which ends it, and has `size` bytes.
uint32_t serving_http_get(unsigned port, const char *path, const char *headers, char *text,
                          size_t text_size, char **body, size_t *size);
// The same of a whole request.
uint32_t serving_http(unsigned port, const char *request, char *text, size_t text_size, char **body,
                      size_t *size);
// Until there are so many rooms, and each has recorded a tick that it had not made when it was seen
// first: so a match that was resumed is known to go on.
void serving_wait_for_next_ticks(const serving *c, uint32_t rooms);
// A UDP port of loopback that is taken for as long as the test runs.
void serving_take_port(char address[64]);
// One message of the program on stderr, nothing on stdout, no file.
void serving_expect_nothing_left(const serving *c, const char *said);

// Every match of the directory, by its end (a cm_match_end); and how often they were resumed.
void serving_count_matches(const serving *c, uint32_t *ends, uint32_t *resumes);
// A module's file next to this program's own.
void serving_find_module(const char *name, char *path, size_t size);
// A client that comes into the room, of 127.0.0.1 or of another address, and does not simulate.
carom_client *serving_play_at(const char *host, uint16_t port, const char *room,
                              const carom_module *module);
carom_client *serving_play_in(const char *room, const carom_module *module, uint16_t port);

#endif

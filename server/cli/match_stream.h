// `carom match stream` and `carom match verify`: a match's stream made from its file, and a stream
// checked without one.
#ifndef CM_SERVER_CLI_MATCH_STREAM_H
#define CM_SERVER_CLI_MATCH_STREAM_H

int cm_match_stream(int argc, char **argv);
int cm_match_verify(int argc, char **argv);

#endif

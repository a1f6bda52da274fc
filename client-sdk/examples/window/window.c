// A window on a game: sandbox, ball, race or billiards, by keyboard, with what the path costs on
// the screen. It shows what a client of Carom has to do and nothing of how a game should be drawn:
// all of it is the SDK's public face and SDL2's renderer.
//
//   carom_window HOST:PORT [sandbox|ball|race|billiards] [options]
//     --latency MS --jitter MS --loss PERCENT   a worse path, one way, each way
//     --name NAME   --bot (the module's bot plays)   --size WIDTHxHEIGHT
//     --fine (drawn twice as large, and shrunk)      --script FILE (script.h)
//
// Keys: the game's own (the last line of the screen); G the server's truth as a ghost, C another
// camera, B the bot, 1 to 4 a path of 0, 30, 100 or 150 ms each way, Escape ends.
#include "games.h"
#include "script.h"
#include "text.h"

#include <carom/client_more.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODIES_MAX 2048u
#define SHAPES_MAX 16u
#define FRAME_MS   16u
#define NEWS_S     4.0

typedef struct options {
    char host[256];
    int port, width, height;
    const char *game, *name, *script;
    carom_client_link path;
    bool bot, fine;
} options;

// Two readings, a second apart, for the corner of the screen.
typedef struct corner {
    carom_client_stats last, now;
    double since_s;
    uint32_t frames, fps;
} corner;

typedef struct window {
    SDL_Window *handle;
    SDL_Renderer *renderer;
    canvas *canvas;
    carom_client *client;
    const window_game *game;
    window_view view;
    script script;
    corner corner;
    carom_client_link path;
    bool ghost, bot, quit;
    char news[WINDOW_TEXT_MAX];
    double now_s, news_s, playing_s; // the last two: when it came, and when play began
    int width, height;
} window;

static uint64_t now_us(void)
{
    return (uint64_t)(1.0e6 * (double)SDL_GetPerformanceCounter() /
                      (double)SDL_GetPerformanceFrequency());
}

// Bodies ----------------------------------------------------------------------------------------

static uint32_t owner_of(const carom_client_roster_row *roster, uint32_t players,
                         carom_body_id body)
{
    for (uint32_t i = 0; i < players; i++) {
        if (carom_body_id_equal(roster[i].body, body)) {
            return roster[i].player;
        }
    }
    return CAROM_NO_PLAYER;
}

static void draw_shapes(window *w, carom_body_id body, mesh_pose pose, mesh_colours colours)
{
    const carom_world *world = carom_client_world(w->client);
    carom_shape_id shapes[SHAPES_MAX];
    uint32_t count = carom_body_shapes(world, body, shapes, SHAPES_MAX);
    for (uint32_t i = 0; i < count && i < SHAPES_MAX; i++) {
        carom_shape_def shape;
        if (carom_shape_get(world, shapes[i], &shape, NULL) != CAROM_OK || shape.sensor) {
            continue;
        }
        if (shape.type == CAROM_SHAPE_PLANE) {
            mesh_plane(w->canvas, &shape, w->view.at, w->game->tile, w->game->ground);
        } else {
            mesh_shape(w->canvas, &shape, pose, colours);
        }
    }
}

// The newest that the server said of a body, as it said it: of a tick some half a round trip ago,
// with exact sync of the newest confirmed one.
static void draw_ghost(window *w, carom_body_id body, const carom_body_state *truth)
{
    const SDL_Color pale = {255, 255, 255, 90};
    draw_shapes(w, body, (mesh_pose){truth->position, truth->orientation},
                (mesh_colours){pale, pale});
}

static void draw_bodies(window *w)
{
    static carom_client_transform rows[BODIES_MAX];
    carom_client_roster_row roster[CAROM_PLAYERS_MAX];
    const carom_world *world = carom_client_world(w->client);
    const carom_body_id own = carom_client_own_body(w->client);
    uint32_t players = carom_client_roster(w->client, roster, CAROM_PLAYERS_MAX);
    uint32_t count = carom_client_transforms(w->client, rows, BODIES_MAX);
    for (uint32_t i = 0; i < count && i < BODIES_MAX; i++) {
        carom_body_state truth; // what was spawned here alone has no shapes yet
        mesh_colours colours = {{200, 200, 200, 255}, {160, 160, 160, 255}};
        mesh_pose pose = {rows[i].position, rows[i].orientation};
        if (carom_body_get(world, rows[i].body, &truth) != CAROM_OK ||
            !w->game->looks(&truth, owner_of(roster, players, rows[i].body), &colours)) {
            continue;
        }
        draw_shapes(w, rows[i].body, pose, colours);
        if (truth.type != CAROM_BODY_STATIC) {
            canvas_begin_shadow(w->canvas);
            draw_shapes(w, rows[i].body, pose, colours);
            canvas_end_shadow(w->canvas);
        }
        if (w->game->mark > 0.0f && carom_body_id_equal(rows[i].body, own)) {
            mesh_disc(w->canvas, carom_vec(pose.position.x, 0.002f, pose.position.z), w->game->mark,
                      (SDL_Color){255, 240, 150, 130});
        }
        if (w->ghost && truth.type != CAROM_BODY_STATIC) {
            draw_ghost(w, rows[i].body, &truth);
        }
    }
}

// The screen ------------------------------------------------------------------------------------

static void draw_line(const window *w, int x, int y, int scale, const char *text)
{
    const SDL_Color dark = {20, 24, 30, 190}, light = {250, 250, 246, 255};
    SDL_Rect back = {x - 2 * scale, y - 2 * scale, text_width(text, scale) + 3 * scale, 11 * scale};
    SDL_SetRenderDrawColor(w->renderer, dark.r, dark.g, dark.b, dark.a);
    SDL_RenderFillRect(w->renderer, &back);
    text_draw(w->renderer, x, y, scale, light, text);
}

static void draw_middle(const window *w, int y, int scale, const char *text)
{
    if (text[0] != '\0') {
        draw_line(w, (w->width - text_width(text, scale)) / 2, y, scale, text);
    }
}

static const char *state_text(carom_client_state state)
{
    static const char *const texts[] = {"idle", "connecting", "joining", "playing", "unstable"};
    return (size_t)state < sizeof texts / sizeof texts[0] ? texts[state] : "";
}

static void draw_corner(window *w)
{
    corner *c = &w->corner;
    char text[WINDOW_TEXT_MAX];
    carom_client_stats newest;
    carom_client_stats_get(w->client, &newest);
    if (w->now_s - c->since_s >= 1.0) {
        c->last = c->now;
        c->now = newest;
        c->since_s = w->now_s;
        c->fps = c->frames;
        c->frames = 0;
    }
    c->frames++;
    const carom_client_stats *a = &c->last, *b = &c->now;
    uint64_t errors = b->error_count - a->error_count;
    uint64_t lost = b->packets_lost > a->packets_lost ? b->packets_lost - a->packets_lost : 0;
    uint64_t came = b->view_packets - a->view_packets;
    snprintf(text, sizeof text, "RTT %u ms +- %u  lost %.0f%%", newest.rtt_ms, newest.jitter_ms,
             came + lost > 0 ? 100.0 * (double)lost / (double)(came + lost) : 0.0);
    draw_line(w, 12, 12, 2, text);
    snprintf(text, sizeof text, "lead %.1f ticks  late %llu", (double)newest.input_lead,
             (unsigned long long)(b->late_reports - a->late_reports));
    draw_line(w, 12, 36, 2, text);
    snprintf(text, sizeof text, "corrections %llu/s  error %.1f mm",
             (unsigned long long)(b->reconciles - a->reconciles),
             errors > 0 ? 1000.0 * (b->error_sum - a->error_sum) / (double)errors : 0.0);
    draw_line(w, 12, 60, 2, text);
    snprintf(text, sizeof text, "down %.1f  up %.1f kbit/s",
             (double)(b->bytes_in - a->bytes_in) * 0.008,
             (double)(b->bytes_out - a->bytes_out) * 0.008);
    draw_line(w, 12, 84, 2, text);
    snprintf(text, sizeof text, "%s, %u fps%s%s%s", state_text(carom_client_get_state(w->client)),
             c->fps, w->bot ? ", the bot plays" : "", w->ghost ? ", ghost" : "",
             newest.desyncs > 0 ? ", desynced" : "");
    draw_line(w, 12, 108, 2, text);
}

static void draw_names(const window *w)
{
    carom_client_roster_row roster[CAROM_PLAYERS_MAX];
    uint32_t players = carom_client_roster(w->client, roster, CAROM_PLAYERS_MAX);
    for (uint32_t i = 0; i < players; i++) {
        char text[WINDOW_TEXT_MAX];
        snprintf(text, sizeof text, "%s %u ms%s", roster[i].name, roster[i].rtt_ms,
                 roster[i].away ? ", away" : "");
        draw_line(w, w->width - text_width(text, 2) - 16, 12 + 24 * (int)i, 2, text);
    }
}

static void draw_screen(window *w)
{
    char score[WINDOW_TEXT_MAX] = "";
    carom_reason reason = carom_client_get_reason(w->client);
    draw_corner(w);
    draw_names(w);
    if (carom_client_get_state(w->client) == CAROM_CLIENT_IDLE) {
        draw_middle(w, w->height / 2, 3, carom_reason_text(reason));
    }
    if (w->game->score != NULL) {
        w->game->score(&w->view, score);
        draw_middle(w, 14, 3, score);
    }
    if (w->news[0] != '\0' && w->now_s < w->news_s + NEWS_S) {
        draw_middle(w, 52, 2, w->news);
    }
    draw_middle(w, w->height - 24, 2, w->game->keys);
}

static void draw(window *w)
{
    carom_client_pose own;
    carom_body_id body = carom_client_own_body(w->client);
    if (carom_client_body_pose(w->client, body, &own) != CAROM_OK) {
        own = (carom_client_pose){.orientation = {0.0f, 0.0f, 0.0f, 1.0f}};
    }
    canvas_begin(w->canvas, w->game->sky, w->game->haze);
    w->game->camera(&w->view, &own);
    canvas_look(w->canvas, w->view.eye, w->view.at);
    if (carom_client_world(w->client) != NULL) {
        draw_bodies(w);
        if (w->game->extras != NULL) {
            w->game->extras(&w->view, w->canvas);
        }
    }
    canvas_show(w->canvas);
    draw_screen(w);
}

static void save_picture(const window *w, const char *path)
{
    SDL_Surface *picture =
        SDL_CreateRGBSurfaceWithFormat(0, w->width, w->height, 32, SDL_PIXELFORMAT_ARGB8888);
    if (picture == NULL ||
        SDL_RenderReadPixels(w->renderer, NULL, SDL_PIXELFORMAT_ARGB8888, picture->pixels,
                             picture->pitch) != 0 ||
        SDL_SaveBMP(picture, path) != 0) {
        fprintf(stderr, "carom_window: %s: %s\n", path, SDL_GetError());
    }
    SDL_FreeSurface(picture);
}

// Keys ------------------------------------------------------------------------------------------

static void set_path(window *w, uint32_t latency_ms)
{
    w->path.latency_ms = latency_ms;
    w->path.jitter_ms = latency_ms / 5u;
    w->path.loss = latency_ms > 0 ? 0.02f : 0.0f;
    (void)carom_client_simulate_link(w->client, &w->path);
}

static void press(window *w, SDL_Scancode key)
{
    static const uint32_t latencies[] = {0, 30, 100, 150};
    if (key >= SDL_SCANCODE_1 && key <= SDL_SCANCODE_4) {
        set_path(w, latencies[key - SDL_SCANCODE_1]);
    }
    w->ghost ^= key == SDL_SCANCODE_G;
    w->bot ^= key == SDL_SCANCODE_B;
    w->view.other_camera ^= key == SDL_SCANCODE_C;
    w->quit = w->quit || key == SDL_SCANCODE_ESCAPE;
}

// Of what happened in the seconds since it was last called.
static void play(window *w, float seconds)
{
    uint8_t input[CAROM_INPUT_MAX] = {0};
    if (carom_client_get_state(w->client) != CAROM_CLIENT_PLAYING) {
        return;
    }
    w->playing_s = w->playing_s > 0.0 ? w->playing_s : w->now_s;
    if (w->bot && carom_client_play_bot(w->client, (uint64_t)(1.0e6 * w->now_s)) == CAROM_OK) {
        return;
    }
    w->view.frame_s = seconds;
    w->game->input(&w->view, input);
    (void)carom_client_set_input(w->client, input, w->game->input_size);
}

static void read_keys(window *w)
{
    SDL_Event event;
    while (SDL_PollEvent(&event)) {
        w->quit = w->quit || event.type == SDL_QUIT;
        if ((event.type == SDL_KEYDOWN || event.type == SDL_KEYUP) && event.key.repeat == 0 &&
            event.key.keysym.scancode < SDL_NUM_SCANCODES) {
            w->view.down[event.key.keysym.scancode] = event.type == SDL_KEYDOWN;
            if (event.type == SDL_KEYDOWN) {
                press(w, event.key.keysym.scancode);
            }
            play(w, 0.0f); // a key that goes down and up within a frame is told all the same
        }
    }
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    window *w = user;
    (void)tick;
    if (w->game->news != NULL && w->game->news(bytes, size, w->news)) {
        w->news_s = w->now_s;
    }
}

// Life ------------------------------------------------------------------------------------------

static bool read_value(options *o, const char *option, const char *value)
{
    if (strcmp(option, "--latency") == 0) {
        o->path.latency_ms = (uint32_t)atoi(value);
    } else if (strcmp(option, "--jitter") == 0) {
        o->path.jitter_ms = (uint32_t)atoi(value);
    } else if (strcmp(option, "--loss") == 0) {
        o->path.loss = (float)atof(value) / 100.0f;
    } else if (strcmp(option, "--name") == 0) {
        o->name = value;
    } else if (strcmp(option, "--script") == 0) {
        o->script = value;
    } else {
        return strcmp(option, "--size") == 0 && sscanf(value, "%dx%d", &o->width, &o->height) == 2;
    }
    return true;
}

static bool read_options(int argc, char **argv, options *o)
{
    *o = (options){.game = "sandbox", .name = "player", .width = 1280, .height = 720};
    if (argc < 2 || sscanf(argv[1], "%255[^:]:%d", o->host, &o->port) != 2) {
        return false;
    }
    for (int i = 2; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (option[0] != '-') {
            o->game = option;
        } else if (strcmp(option, "--bot") == 0) {
            o->bot = true;
        } else if (strcmp(option, "--fine") == 0) {
            o->fine = true;
        } else if (!read_value(o, option, value)) {
            return false;
        } else {
            i++;
        }
    }
    return window_game_find(o->game) != NULL && o->width > 0 && o->height > 0;
}

static bool open_window(window *w, const options *o)
{
    char title[WINDOW_TEXT_MAX];
    snprintf(title, sizeof title, "Carom: %s", o->game);
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        return false;
    }
    w->width = o->width;
    w->height = o->height;
    w->handle = SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, o->width,
                                 o->height, 0);
    w->renderer = w->handle != NULL ? SDL_CreateRenderer(w->handle, -1, 0) : NULL;
    if (w->renderer == NULL) {
        return false;
    }
    SDL_SetRenderDrawBlendMode(w->renderer, SDL_BLENDMODE_BLEND);
    int scale = o->fine ? 2 : 1;
    w->canvas = canvas_create(w->renderer, scale * o->width, scale * o->height);
    return w->canvas != NULL;
}

static bool open_client(window *w, const options *o)
{
    carom_client_def def = carom_default_client_def();
    def.name = o->name;
    def.module = w->game->module; // the same rules predict here
    def.message = hear;
    def.user = w;
    if (carom_client_create(&def, &w->client) != CAROM_OK) {
        return false;
    }
    w->view.client = w->client;
    w->path = o->path;
    return carom_client_simulate_link(w->client, &w->path) == CAROM_OK &&
           carom_client_connect(w->client, o->host, (uint16_t)o->port, now_us()) == CAROM_OK;
}

static void run(window *w)
{
    double before_s = 1.0e-6 * (double)now_us();
    while (!w->quit) {
        Uint32 began = SDL_GetTicks();
        w->now_s = 1.0e-6 * (double)now_us();
        float seconds = (float)(w->now_s - before_s);
        before_s = w->now_s;
        carom_client_update(w->client, now_us());
        play(w, seconds);
        w->view.frame_s = seconds; // for the camera
        draw(w);
        const char *picture =
            w->playing_s > 0.0 ? script_play(&w->script, w->now_s - w->playing_s) : NULL;
        if (picture != NULL) {
            save_picture(w, picture);
        }
        SDL_RenderPresent(w->renderer);
        read_keys(w);
        Uint32 took = SDL_GetTicks() - began;
        SDL_Delay(took < FRAME_MS ? FRAME_MS - took : 1);
    }
}

// Prints a summary.
static void tell(const window *w)
{
    carom_client_stats s;
    carom_client_stats_get(w->client, &s);
    double packets = (double)(s.view_packets + s.packets_lost);
    printf("%s: %s, tick %llu, RTT %u ms, lost %.1f%%, %llu corrections, mean error %.1f mm, "
           "%llu bytes in, %llu out, %llu desyncs\n",
           w->game->name, state_text(carom_client_get_state(w->client)),
           (unsigned long long)s.predicted_tick, s.rtt_ms,
           packets > 0.0 ? 100.0 * (double)s.packets_lost / packets : 0.0,
           (unsigned long long)s.reconciles,
           s.error_count > 0 ? 1000.0 * s.error_sum / (double)s.error_count : 0.0,
           (unsigned long long)s.bytes_in, (unsigned long long)s.bytes_out,
           (unsigned long long)s.desyncs);
}

int main(int argc, char **argv)
{
    static window w;
    options o;
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "usage: carom_window HOST:PORT [sandbox|ball|race|billiards] [--latency MS] "
                "[--jitter MS] [--loss PERCENT] [--name NAME] [--bot] [--size WxH] [--fine] "
                "[--script FILE]\n");
        return 2;
    }
    w.game = window_game_find(o.game);
    w.bot = o.bot;
    if (o.script != NULL && !script_open(&w.script, o.script)) {
        fprintf(stderr, "carom_window: %s: expected a script\n", o.script);
        return 2;
    }
    bool opened = open_window(&w, &o);
    if (!opened || !open_client(&w, &o)) {
        fprintf(stderr, "carom_window: cannot start: %s\n", opened ? "no client" : SDL_GetError());
        return 1;
    }
    run(&w);
    tell(&w);
    carom_client_destroy(w.client);
    canvas_destroy(w.canvas);
    SDL_DestroyRenderer(w.renderer);
    SDL_DestroyWindow(w.handle);
    SDL_Quit();
    return 0;
}

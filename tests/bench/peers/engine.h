// What a physics engine must do to be measured beside ours, and the scene that it is given.
//
// A scene is plain: one shape a body (box, sphere, capsule or plane), ball joints. Every engine
// gets the same numbers from the same file (scene.cpp); none sees another's.
#ifndef CM_PEERS_ENGINE_H
#define CM_PEERS_ENGINE_H

#include <memory>
#include <string>
#include <vector>

#include "server/tools/bench/quality.h"

namespace peers {

struct Body {
    std::string name;
    bool dynamic = true;
    cm_quality_pose pose{};
    carom_shape_def shape{};
};

struct BallJoint {
    uint32_t a = 0, b = 0; // indices of bodies
    double anchor[3] = {}; // world axes, at the scene's poses
};

struct Scene {
    std::string path, name;
    double gravity[3] = {};
    double dt = 0.0; // s
    std::vector<Body> bodies;
    std::vector<BallJoint> joints;
};

// Mass of a body, kg, from its shape and density; 0 for one that stands still.
double mass_of(const Body &body);
// Its moments of inertia about its own axes, kg m^2.
void moments_of(const Body &body, double moments[3]);

class Engine {
  public:
    virtual ~Engine() = default;
    virtual void step() = 0;
    virtual cm_quality_pose pose(size_t body) = 0;
};

// Each makes a world of the scene, or throws std::runtime_error with why not.
std::unique_ptr<Engine> make_carom(const Scene &scene);
std::unique_ptr<Engine> make_bullet(const Scene &scene);
std::unique_ptr<Engine> make_ode(const Scene &scene);
const char *describe_carom();
const char *describe_bullet();
const char *describe_ode();

// Throws std::runtime_error for a file that cannot be read or holds more than a plain scene.
Scene load_scene(const std::string &path);

// The game scenes in ours and in Bullet, each figure held against its limit.
class Limits;
void run_games(Limits &limits, unsigned runs, unsigned steps,
               const std::vector<std::string> &paths);

} // namespace peers

#endif

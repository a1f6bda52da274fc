// Ours: the scene as `carom sim` reads it, stepped by carom_world_step.
#include <stdexcept>

#include "engine.h"

extern "C" {
#include "server/tools/bench/worlds.h"
#include "shared/scene/scene_json.h"
}

namespace peers {
namespace {

class Carom final : public Engine {
  public:
    explicit Carom(const Scene &source)
    {
        cm_scene *scene = nullptr;
        cm_scene_error error;
        if (cm_scene_from_file(source.path.c_str(), &scene, &error) != CAROM_OK) {
            throw std::runtime_error(std::string(error.path) + ": " + error.message);
        }
        carom_world_def def;
        cm_scene_world_def(scene, &def);
        world = cm_bench_world_new(&def);
        bool made = world != nullptr && cm_scene_populate(scene, world) == CAROM_OK;
        cm_scene_free(scene);
        if (!made) {
            cm_bench_world_free(world);
            throw std::runtime_error("the world cannot be made");
        }
    }
    ~Carom() override
    {
        cm_bench_world_free(world);
    }
    Carom(const Carom &) = delete;
    Carom &operator=(const Carom &) = delete;

    void step() override
    {
        carom_world_step(world);
    }

    cm_quality_pose pose(size_t body) override
    {
        carom_body_state s;
        carom_body_get(world, carom_world_body_at(world, static_cast<uint32_t>(body)), &s);
        return {{s.position.x, s.position.y, s.position.z},
                {s.orientation.x, s.orientation.y, s.orientation.z, s.orientation.w}};
    }

  private:
    carom_world *world = nullptr;
};

} // namespace

std::unique_ptr<Engine> make_carom(const Scene &scene)
{
    return std::make_unique<Carom>(scene);
}

const char *describe_carom()
{
    return "carom, the solver of the scene";
}

} // namespace peers

// The game scenes (tests/scenes/games) in our engine and in Bullet, in turn: time, and quality from
// poses alone.
//
// Bullet's world is made from ours as a file became it, read through the public interface, so that
// arrays, hulls and compounds need no second reader; the file itself is read for the limits of
// hinges alone. All is kept awake, since what is measured is work; a scene that is named sleepers
// may sleep in both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <jansson.h>

#include "bullet.h"
#include "limits.h"

extern "C" {
#include "server/tools/bench/joints.h"
#include "server/tools/bench/samples.h"
#include "server/tools/bench/worlds.h"
#include "shared/scene/scene_json.h"
}

namespace peers {
namespace {

using Poses = std::vector<cm_quality_pose>;

btTransform frame_of(carom_quat q, carom_vec3 p)
{
    return btTransform(btQuaternion(q.x, q.y, q.z, q.w), vector_of(p));
}

// A scene as a world of ours, with what is asked of it from outside.
struct Game {
    std::string path, name;
    cm_scene *scene = nullptr;
    carom_world *world = nullptr;
    bool may_sleep;
    std::vector<cm_quality_joint> joints;
    std::vector<carom_body_def> bodies;               // by slot
    std::vector<std::vector<carom_shape_def>> shapes; // of each

    explicit Game(const std::string &file) : path(file)
    {
        cm_scene_error error;
        if (cm_scene_from_file(file.c_str(), &scene, &error) != CAROM_OK) {
            throw std::runtime_error(file + ": " + error.message);
        }
        name = file.substr(file.find_last_of('/') + 1);
        name = name.substr(0, name.find('.'));
        may_sleep = name == "sleepers";
        open();
        for (uint32_t i = 0; i < carom_world_body_slots(world); i++) {
            carom_body_id id = carom_world_body_at(world, i);
            carom_body_def body;
            carom_shape_id ids[256];
            carom_body_get_def(world, id, &body);
            bodies.push_back(body);
            shapes.emplace_back(std::min(carom_body_shapes(world, id, ids, 256), 256u));
            for (size_t k = 0; k < shapes.back().size(); k++) {
                carom_shape_get(world, ids[k], &shapes.back()[k], nullptr);
            }
        }
        cm_quality_joint *found = nullptr;
        uint32_t count = 0;
        if (cm_bench_joints_load(scene, world, &found, &count) == CAROM_OK) {
            joints.assign(found, found + count);
            std::free(found);
        }
    }
    ~Game()
    {
        cm_bench_world_free(world);
        cm_scene_free(scene);
    }
    Game(const Game &) = delete;
    Game &operator=(const Game &) = delete;

    void open() // the world anew, at tick 0
    {
        carom_world_def def;
        cm_bench_world_free(world);
        cm_scene_world_def(scene, &def);
        def.sleep = def.sleep && may_sleep;
        world = cm_bench_world_new(&def);
        if (world == nullptr || cm_scene_populate(scene, world) != CAROM_OK) {
            throw std::runtime_error(path + ": the world cannot be made");
        }
    }
    Poses poses() const
    {
        Poses poses;
        for (uint32_t i = 0; i < bodies.size(); i++) {
            carom_body_state s;
            carom_body_get(world, carom_world_body_at(world, i), &s);
            poses.push_back({{s.position.x, s.position.y, s.position.z},
                             {s.orientation.x, s.orientation.y, s.orientation.z, s.orientation.w}});
        }
        return poses;
    }
};

class BulletGame {
  public:
    explicit BulletGame(const Game &game)
        : world(vector_of(carom_world_gravity(game.world)), 1.0 / carom_world_tick_rate(game.world))
    {
        for (size_t i = 0; i < game.bodies.size(); i++) {
            add_body(game.bodies[i], game.shapes[i], game.may_sleep);
        }
        json_t *root = json_load_file(game.path.c_str(), 0, nullptr);
        const json_t *list = json_object_get(root, "joints");
        for (uint32_t i = 0; i < carom_world_joint_slots(game.world); i++) {
            carom_joint_state s;
            carom_joint_get(game.world, carom_world_joint_at(game.world, i), &s);
            add_joint(s, json_object_get(json_array_get(list, i), "limits"));
        }
        json_decref(root);
    }
    void step()
    {
        world.step();
    }
    Poses poses() const
    {
        Poses poses;
        for (size_t i = 0; i < centers.size(); i++) {
            poses.push_back(pose_of(world.bodies[i]->getWorldTransform() * centers[i].inverse()));
        }
        return poses;
    }

  private:
    // A shape in axes whose origin is the centre of mass; `local` is what is left of its place.
    btCollisionShape *make_shape(const carom_shape_def &def, btTransform &local)
    {
        if (def.type != CAROM_SHAPE_HULL) {
            return world.keep(shape_of(def));
        }
        uint32_t count = 0;
        const carom_vec3 *points = carom_hull_vertices(def.hull, &count);
        auto hull = std::make_unique<btConvexHullShape>();
        for (uint32_t i = 0; i < count; i++) {
            hull->addPoint(local * vector_of(points[i]), false);
        }
        hull->recalcLocalAabb();
        local.setIdentity();
        return world.keep(std::move(hull));
    }

    btCollisionShape *make_shapes(const std::vector<carom_shape_def> &defs,
                                  const btTransform &center)
    {
        btCompoundShape *compound = nullptr;
        for (const carom_shape_def &def : defs) {
            btTransform local = center.inverse() * frame_of(def.orientation, def.position);
            btCollisionShape *shape = make_shape(def, local);
            bool plain = local.getOrigin().length2() < 1e-12f &&
                         local.getRotation().getAngleShortestPath() < 1e-6f;
            if (defs.size() == 1 && plain) {
                return shape;
            }
            if (compound == nullptr) {
                compound =
                    static_cast<btCompoundShape *>(world.keep(std::make_unique<btCompoundShape>()));
            }
            compound->addChildShape(local, shape);
        }
        return compound;
    }

    void add_body(const carom_body_def &def, const std::vector<carom_shape_def> &shapes,
                  bool sleeps)
    {
        const bool moves = def.type == CAROM_BODY_DYNAMIC;
        btTransform center = moves ? frame_of(def.inertia_orientation, def.center_of_mass)
                                   : btTransform::getIdentity();
        btRigidBody::btRigidBodyConstructionInfo info(
            moves ? def.mass : 0.0f, nullptr, make_shapes(shapes, center),
            moves ? vector_of(def.inertia) : btVector3(0, 0, 0));
        info.m_startWorldTransform = frame_of(def.orientation, def.position) * center;
        info.m_friction = shapes.front().friction; // both engines multiply
        info.m_restitution = shapes.front().restitution;
        // A negative group does not meet itself: a bit of its own.
        const int32_t group = shapes.front().group;
        const bool none = shapes.front().mask == 0;
        const int bit = group < 0 ? 1 << (6 + -group % 24) : none ? 1 : 0;
        btRigidBody &body = world.add(info, sleeps, bit, none ? 0 : ~bit);
        body.setLinearVelocity(vector_of(def.linear_velocity));
        body.setAngularVelocity(vector_of(def.angular_velocity));
        centers.push_back(center);
    }

    btRigidBody *body_of(carom_body_id id, btTransform &to_local)
    {
        btRigidBody *body = id.generation == 0 ? nullptr : world.bodies.at(id.index).get();
        to_local =
            body == nullptr ? btTransform::getIdentity() : body->getWorldTransform().inverse();
        return body;
    }

    void add_joint(const carom_joint_state &s, const json_t *limits)
    {
        btTransform a, b;
        btRigidBody *first = body_of(s.body_a, a), *second = body_of(s.body_b, b);
        const btVector3 anchor = vector_of(s.anchor_a), axis = vector_of(s.axis);
        if (s.type == CAROM_JOINT_BALL && first != nullptr) {
            world.join(
                std::make_unique<btPoint2PointConstraint>(*first, *second, a * anchor, b * anchor));
        } else if (s.type == CAROM_JOINT_BALL) {
            world.join(std::make_unique<btPoint2PointConstraint>(*second, b * anchor));
        } else if (s.type == CAROM_JOINT_HINGE) {
            auto hinge = first != nullptr
                             ? std::make_unique<btHingeConstraint>(*first, *second, a * anchor,
                                                                   b * anchor, a.getBasis() * axis,
                                                                   b.getBasis() * axis, true)
                             : std::make_unique<btHingeConstraint>(*second, b * anchor,
                                                                   b.getBasis() * axis, false);
            if (limits != nullptr) {
                hinge->setLimit((float)json_number_value(json_array_get(limits, 0)),
                                (float)json_number_value(json_array_get(limits, 1)));
            }
            world.join(std::move(hinge));
        } else {
            throw std::runtime_error("a joint other than ball and hinge");
        }
    }

    BulletWorld world;
    std::vector<btTransform> centers; // of mass, in the body
};

// What is printed, and held against limits.
struct Outcome {
    std::vector<double> means; // ms a step
    double overlap = 0.0;      // m, after the last step
    double joint = 0.0;        // m, the worst of the last second
    unsigned fell = 0;         // bodies that sank by more than half of their height
    double fastest = 0.0;      // m/s, over the last tick
};

std::vector<cm_solid> solids_of(const Game &game, const Poses &poses)
{
    std::vector<cm_solid> solids;
    for (size_t i = 0; i < poses.size(); i++) {
        for (const carom_shape_def &def : game.shapes[i]) {
            cm_solid solid;
            if (cm_solid_place(&solid, &def, poses[i].position, poses[i].orientation)) {
                solid.body = static_cast<uint32_t>(i);
                solid.movable = game.bodies[i].type == CAROM_BODY_DYNAMIC;
                solids.push_back(solid);
            }
        }
    }
    return solids;
}

void judge(const Game &game, const Poses &first, const Poses &before, const Poses &last, Outcome &o)
{
    std::vector<cm_solid> solids = solids_of(game, last);
    cm_quality quality{};
    const auto joints = static_cast<uint32_t>(game.joints.size());
    cm_quality_of_solids(solids.data(), static_cast<uint32_t>(solids.size()), game.joints.data(),
                         joints, &quality);
    o.overlap = quality.max_penetration;
    std::vector<double> low(first.size(), INFINITY), high(first.size(), -INFINITY);
    for (const cm_solid &solid : solids_of(game, first)) {
        double lower[3], upper[3];
        cm_solid_bounds(&solid, lower, upper);
        low[solid.body] = std::min(low[solid.body], lower[1]);
        high[solid.body] = std::max(high[solid.body], upper[1]);
    }
    for (size_t i = 0; i < last.size(); i++) {
        if (game.bodies[i].type != CAROM_BODY_DYNAMIC) {
            continue;
        }
        double way = 0.0;
        for (int k = 0; k < 3; k++) {
            way += std::pow(last[i].position[k] - before[i].position[k], 2.0);
        }
        o.fastest = std::max(o.fastest, std::sqrt(way) * carom_world_tick_rate(game.world));
        o.fell += first[i].position[1] - last[i].position[1] > 0.5 * (high[i] - low[i]);
    }
}

template <typename Step, typename Look>
void run_once(const Game &game, unsigned steps, Step step, Look look, Outcome &o)
{
    const Poses first = look();
    Poses before;
    double sum = 0.0;
    const auto joints = static_cast<uint32_t>(game.joints.size());
    for (unsigned i = 0; i < steps; i++) {
        if (i + 1 == steps) {
            before = look();
        }
        const double start = cm_bench_thread_ms();
        step();
        sum += cm_bench_thread_ms() - start;
        if (o.means.empty() && joints > 0 && i % 5 == 0) {
            const Poses now = look();
            o.joint =
                std::max(o.joint, cm_quality_joint_error(now.data(), game.joints.data(), joints));
        }
    }
    if (o.means.empty()) {
        judge(game, first, before, look(), o);
    }
    o.means.push_back(sum / steps);
}

double median(std::vector<double> values)
{
    cm_samples_summary summary;
    cm_samples_summarise(values.data(), static_cast<uint32_t>(values.size()), &summary);
    return summary.median;
}

void tell(const Game &game, const Outcome &ours, const Outcome &theirs, Limits &limits)
{
    const double a = median(ours.means), b = median(theirs.means);
    std::printf("%-16s %8.4f %8.4f %6.2f | %8.2f %7.2f %5u %8.4f | %8.2f %7.2f %5u %8.4f",
                game.name.c_str(), a, b, a / b, 1e3 * ours.overlap, 1e3 * ours.joint, ours.fell,
                ours.fastest, 1e3 * theirs.overlap, 1e3 * theirs.joint, theirs.fell,
                theirs.fastest);
    limits.hold(game.name,
                {{a / b, 1e3 * ours.overlap, 1e3 * ours.joint, (double)ours.fell, ours.fastest}});
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

void run_games(Limits &limits, unsigned runs, unsigned steps, const std::vector<std::string> &paths)
{
    std::printf("\n%u steps, median of %u runs; overlap and worst joint, mm; bodies that fell; the "
                "fastest, m/s\n%-16s %8s %8s %6s | %-31s | %-31s\n",
                steps, runs, "ms a step", "carom", "bullet", "ratio", "carom", "bullet");
    for (const std::string &path : paths) {
        Game game(path);
        Outcome ours, theirs;
        for (unsigned run = 0; run < runs; run++) {
            game.open();
            {
                BulletGame bullet(game);
                run_once(
                    game, steps, [&] { bullet.step(); }, [&] { return bullet.poses(); }, theirs);
            }
            run_once(
                game, steps, [&] { carom_world_step(game.world); }, [&] { return game.poses(); },
                ours);
        }
        tell(game, ours, theirs, limits);
    }
}

} // namespace peers

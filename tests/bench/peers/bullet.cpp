// A plain scene (engine.h) in Bullet, without sleeping. Friction multiplies there and is the
// geometric mean in the scenes, so each body gets the square root.
#include <cmath>

#include "bullet.h"

namespace peers {
namespace {

btVector3 point_of(const double v[3])
{
    return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

class Bullet final : public Engine {
  public:
    explicit Bullet(const Scene &scene) : world(point_of(scene.gravity), scene.dt)
    {
        for (const Body &body : scene.bodies) {
            add_body(body);
        }
        for (const BallJoint &joint : scene.joints) {
            btRigidBody &a = *world.bodies[joint.a], &b = *world.bodies[joint.b];
            btVector3 anchor = point_of(joint.anchor);
            world.join(std::make_unique<btPoint2PointConstraint>(
                a, b, a.getWorldTransform().inverse() * anchor,
                b.getWorldTransform().inverse() * anchor));
        }
    }
    void step() override
    {
        world.step();
    }
    cm_quality_pose pose(size_t body) override
    {
        return pose_of(world.bodies[body]->getWorldTransform());
    }

  private:
    void add_body(const Body &source)
    {
        btCollisionShape *shape = world.keep(shape_of(source.shape));
        const auto mass = static_cast<btScalar>(mass_of(source));
        btVector3 inertia(0, 0, 0);
        if (mass > 0) {
            shape->calculateLocalInertia(mass, inertia);
        }
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
        info.m_startWorldTransform = frame_of(source.pose);
        info.m_friction = std::sqrt(source.shape.friction);
        info.m_restitution = source.shape.restitution;
        const bool filtered = source.shape.mask != 0xffffffffu;
        world.add(info, false, filtered ? static_cast<int>(source.shape.category) : 0,
                  static_cast<int>(source.shape.mask));
    }

    BulletWorld world;
};

} // namespace

std::unique_ptr<Engine> make_bullet(const Scene &scene)
{
    return std::make_unique<Bullet>(scene);
}

const char *describe_bullet()
{
    static const std::string text = "Bullet " + std::to_string(btGetVersion() / 100) + "." +
                                    std::to_string(btGetVersion() % 100) +
                                    (sizeof(btScalar) == 8 ? ", double" : ", float") +
                                    ", dynamic tree, sequential impulses, 10 iterations";
    return text.c_str();
}

} // namespace peers

// Bullet (Debian's libbullet-dev) as its users run it: dynamic tree, sequential impulses with the
// default of 10 iterations, one step a tick, no sleeping. Friction multiplies there and is the
// geometric mean in the scenes, so each body gets the square root.
#include <cmath>

#include <btBulletDynamicsCommon.h>

#include "engine.h"

namespace peers {
namespace {

btVector3 vector_of(const double v[3])
{
    return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

std::unique_ptr<btCollisionShape> shape_of(const carom_shape_def &def)
{
    if (def.type == CAROM_SHAPE_BOX) {
        return std::make_unique<btBoxShape>(
            btVector3(def.half_extents.x, def.half_extents.y, def.half_extents.z));
    }
    if (def.type == CAROM_SHAPE_SPHERE) {
        return std::make_unique<btSphereShape>(def.radius);
    }
    return std::make_unique<btCapsuleShape>(def.radius, 2.0f * def.half_height);
}

class Bullet final : public Engine {
  public:
    explicit Bullet(const Scene &scene) : dt(static_cast<btScalar>(scene.dt))
    {
        world.setGravity(vector_of(scene.gravity));
        for (const Body &body : scene.bodies) {
            add_body(body);
        }
        for (const BallJoint &joint : scene.joints) {
            btRigidBody &a = *bodies[joint.a], &b = *bodies[joint.b];
            btVector3 anchor = vector_of(joint.anchor);
            joints.push_back(std::make_unique<btPoint2PointConstraint>(
                a, b, a.getWorldTransform().inverse() * anchor,
                b.getWorldTransform().inverse() * anchor));
            world.addConstraint(joints.back().get(), true);
        }
    }
    ~Bullet() override
    {
        for (auto &joint : joints) {
            world.removeConstraint(joint.get());
        }
        for (auto &body : bodies) {
            world.removeRigidBody(body.get());
        }
    }

    void step() override
    {
        world.stepSimulation(dt, 0);
    }

    cm_quality_pose pose(size_t body) override
    {
        const btTransform &t = bodies[body]->getWorldTransform();
        const btVector3 &p = t.getOrigin();
        const btQuaternion q = t.getRotation();
        return {{p.x(), p.y(), p.z()}, {q.x(), q.y(), q.z(), q.w()}};
    }

  private:
    void add_body(const Body &source)
    {
        shapes.push_back(shape_of(source.shape));
        const auto mass = static_cast<btScalar>(mass_of(source));
        btVector3 inertia(0, 0, 0);
        if (mass > 0) {
            shapes.back()->calculateLocalInertia(mass, inertia);
        }
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes.back().get(), inertia);
        const double *q = source.pose.orientation;
        info.m_startWorldTransform.setIdentity();
        info.m_startWorldTransform.setOrigin(vector_of(source.pose.position));
        info.m_startWorldTransform.setRotation(
            btQuaternion(static_cast<btScalar>(q[0]), static_cast<btScalar>(q[1]),
                         static_cast<btScalar>(q[2]), static_cast<btScalar>(q[3])));
        info.m_friction = std::sqrt(source.shape.friction);
        info.m_restitution = source.shape.restitution;
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        if (source.shape.mask == 0xffffffffu) {
            world.addRigidBody(bodies.back().get());
        } else {
            world.addRigidBody(bodies.back().get(), static_cast<int>(source.shape.category),
                               static_cast<int>(source.shape.mask));
        }
    }

    btScalar dt;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
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

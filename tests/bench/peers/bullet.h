// Bullet (Debian's libbullet-dev) as its users run it: dynamic tree, sequential impulses with the
// default of 10 iterations, one step a tick. What both of its worlds here have in common.
#ifndef CM_PEERS_BULLET_H
#define CM_PEERS_BULLET_H

#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "engine.h"

namespace peers {

inline btVector3 vector_of(carom_vec3 v)
{
    return {v.x, v.y, v.z};
}

inline btTransform frame_of(const cm_quality_pose &pose)
{
    const double *p = pose.position, *q = pose.orientation;
    return btTransform(btQuaternion((btScalar)q[0], (btScalar)q[1], (btScalar)q[2], (btScalar)q[3]),
                       btVector3((btScalar)p[0], (btScalar)p[1], (btScalar)p[2]));
}

inline cm_quality_pose pose_of(const btTransform &t)
{
    const btVector3 &p = t.getOrigin();
    const btQuaternion q = t.getRotation();
    return {{p.x(), p.y(), p.z()}, {q.x(), q.y(), q.z(), q.w()}};
}

// A shape with its centre in the origin; none of a hull.
inline std::unique_ptr<btCollisionShape> shape_of(const carom_shape_def &def)
{
    switch (def.type) {
    case CAROM_SHAPE_SPHERE:
        return std::make_unique<btSphereShape>(def.radius);
    case CAROM_SHAPE_CAPSULE:
        return std::make_unique<btCapsuleShape>(def.radius, 2.0f * def.half_height);
    case CAROM_SHAPE_CYLINDER:
        return std::make_unique<btCylinderShape>(
            btVector3(def.radius, def.half_height, def.radius));
    case CAROM_SHAPE_BOX:
        return std::make_unique<btBoxShape>(vector_of(def.half_extents));
    case CAROM_SHAPE_PLANE:
        return std::make_unique<btStaticPlaneShape>(vector_of(def.normal), def.offset);
    default:
        return nullptr;
    }
}

class BulletWorld {
  public:
    BulletWorld(const btVector3 &gravity, double seconds) : dt(static_cast<btScalar>(seconds))
    {
        world.setGravity(gravity);
    }
    ~BulletWorld()
    {
        for (auto &joint : joints) {
            world.removeConstraint(joint.get());
        }
        for (auto &body : bodies) {
            world.removeRigidBody(body.get());
        }
    }
    BulletWorld(const BulletWorld &) = delete;
    BulletWorld &operator=(const BulletWorld &) = delete;

    void step()
    {
        world.stepSimulation(dt, 0);
    }
    btCollisionShape *keep(std::unique_ptr<btCollisionShape> shape)
    {
        shapes.push_back(std::move(shape));
        return shapes.back().get();
    }
    // A bit and a mask of 0 and -1: what moves meets all, what stands still what moves.
    btRigidBody &add(const btRigidBody::btRigidBodyConstructionInfo &info, bool sleeps, int bit,
                     int mask)
    {
        bodies.push_back(std::make_unique<btRigidBody>(info));
        if (!sleeps) {
            bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        }
        if (bit == 0) {
            world.addRigidBody(bodies.back().get());
        } else {
            world.addRigidBody(bodies.back().get(), bit, mask);
        }
        return *bodies.back();
    }
    void join(std::unique_ptr<btTypedConstraint> joint)
    {
        joints.push_back(std::move(joint));
        world.addConstraint(joints.back().get(), true);
    }

    std::vector<std::unique_ptr<btRigidBody>> bodies;

  private:
    btScalar dt;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
};

} // namespace peers

#endif

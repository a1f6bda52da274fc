// ODE (Debian's libode-dev) with its fast solver: hash space, QuickStep with its default of 20
// iterations, error reduction 0.2, a contact layer of 5 mm as its manual recommends, corrections
// capped at 3 m/s, no sleeping. Contacts are made anew each step, at most eight a pair.
#include <cstdlib>

#include <ode/ode.h>

#include "engine.h"

namespace peers {
namespace {

constexpr int CONTACTS = 8;

class Ode final : public Engine {
  public:
    explicit Ode(const Scene &source) : scene(source)
    {
        static const int initialised = dInitODE2(0);
        if (initialised == 0 || dAllocateODEDataForThread(dAllocateMaskAll) == 0) {
            std::abort();
        }
        dRandSetSeed(0);
        world = dWorldCreate();
        space = dHashSpaceCreate(nullptr);
        contacts = dJointGroupCreate(0);
        dHashSpaceSetLevels(space, -1, 8);
        dWorldSetGravity(world, number(scene.gravity[0]), number(scene.gravity[1]),
                         number(scene.gravity[2]));
        dWorldSetERP(world, number(0.2));
        dWorldSetCFM(world, number(1e-9));
        dWorldSetQuickStepNumIterations(world, 20);
        dWorldSetContactMaxCorrectingVel(world, number(3.0));
        dWorldSetContactSurfaceLayer(world, number(0.005));
        dWorldSetAutoDisableFlag(world, 0);
        for (const Body &body : scene.bodies) {
            add_body(body);
        }
        for (const BallJoint &joint : scene.joints) {
            dJointID ball = dJointCreateBall(world, nullptr);
            dJointAttach(ball, bodies[joint.a], bodies[joint.b]);
            dJointSetBallAnchor(ball, number(joint.anchor[0]), number(joint.anchor[1]),
                                number(joint.anchor[2]));
        }
    }
    ~Ode() override
    {
        dJointGroupDestroy(contacts);
        dSpaceDestroy(space);
        for (dGeomID geom : apart) {
            dGeomDestroy(geom);
        }
        dWorldDestroy(world);
    }
    Ode(const Ode &) = delete;
    Ode &operator=(const Ode &) = delete;

    void step() override
    {
        dSpaceCollide(space, this, meet);
        dWorldQuickStep(world, number(scene.dt));
        dJointGroupEmpty(contacts);
    }

    cm_quality_pose pose(size_t body) override
    {
        if (bodies[body] == nullptr) {
            return scene.bodies[body].pose;
        }
        const dReal *p = dBodyGetPosition(bodies[body]), *q = dBodyGetQuaternion(bodies[body]);
        return {{p[0], p[1], p[2]}, {q[1], q[2], q[3], q[0]}};
    }

  private:
    static dReal number(double value)
    {
        return static_cast<dReal>(value);
    }

    static void meet(void *context, dGeomID a, dGeomID b)
    {
        auto *self = static_cast<Ode *>(context);
        dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
        if (body_a == nullptr && body_b == nullptr) {
            return;
        }
        dContact found[CONTACTS];
        int count = dCollide(a, b, CONTACTS, &found[0].geom, sizeof found[0]);
        for (int i = 0; i < count; i++) {
            found[i].surface.mode = dContactApprox1;
            found[i].surface.mu = self->friction;
            dJointAttach(dJointCreateContact(self->world, self->contacts, &found[i]), body_a,
                         body_b);
        }
    }

    // A capsule lies along z there, along y here.
    static dGeomID geom_of(const carom_shape_def &shape)
    {
        if (shape.type == CAROM_SHAPE_BOX) {
            return dCreateBox(nullptr, 2 * shape.half_extents.x, 2 * shape.half_extents.y,
                              2 * shape.half_extents.z);
        }
        if (shape.type == CAROM_SHAPE_SPHERE) {
            return dCreateSphere(nullptr, shape.radius);
        }
        return dCreateCapsule(nullptr, shape.radius, 2 * shape.half_height);
    }

    static dMass mass_of_shape(const carom_shape_def &shape)
    {
        dMass mass;
        if (shape.type == CAROM_SHAPE_BOX) {
            dMassSetBox(&mass, shape.density, 2 * shape.half_extents.x, 2 * shape.half_extents.y,
                        2 * shape.half_extents.z);
        } else if (shape.type == CAROM_SHAPE_SPHERE) {
            dMassSetSphere(&mass, shape.density, shape.radius);
        } else {
            dMassSetCapsule(&mass, shape.density, 2, shape.radius, 2 * shape.half_height);
        }
        return mass;
    }

    void add_body(const Body &source)
    {
        const double *p = source.pose.position, *q = source.pose.orientation;
        const dQuaternion turn = {number(q[3]), number(q[0]), number(q[1]), number(q[2])};
        dGeomID geom = geom_of(source.shape);
        friction = source.shape.friction;
        if (source.shape.mask == 0) {
            apart.push_back(geom);
        } else {
            dSpaceAdd(space, geom);
        }
        if (!source.dynamic) {
            dGeomSetPosition(geom, number(p[0]), number(p[1]), number(p[2]));
            dGeomSetQuaternion(geom, turn);
            bodies.push_back(nullptr);
            return;
        }
        dBodyID body = dBodyCreate(world);
        dMass mass = mass_of_shape(source.shape);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, number(p[0]), number(p[1]), number(p[2]));
        dBodySetQuaternion(body, turn);
        dGeomSetBody(geom, body);
        if (source.shape.type == CAROM_SHAPE_CAPSULE) {
            const dQuaternion upright = {number(0.70710678118654752), number(0.70710678118654752),
                                         0, 0};
            dGeomSetOffsetQuaternion(geom, upright);
        }
        bodies.push_back(body);
    }

    const Scene &scene;
    dWorldID world = nullptr;
    dSpaceID space = nullptr;
    dJointGroupID contacts = nullptr;
    dReal friction = 0; // one for the whole scene
    std::vector<dBodyID> bodies;
    std::vector<dGeomID> apart; // collide with nothing, so in no space
};

} // namespace

std::unique_ptr<Engine> make_ode(const Scene &scene)
{
    return std::make_unique<Ode>(scene);
}

const char *describe_ode()
{
    return sizeof(dReal) == 8 ? "ODE, double, hash space, QuickStep, 20 iterations"
                              : "ODE, float, hash space, QuickStep, 20 iterations";
}

} // namespace peers

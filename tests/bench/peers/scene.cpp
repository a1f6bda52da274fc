// Reads a benchmark scene for the peers: the few keys that the files of tests/scenes/bench use.
// What is not understood is refused, so that no engine is given half a scene. It is a reader of its
// own, so that the peers can run scenes that our engine does not take yet.
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include <jansson.h>

#include "engine.h"

namespace peers {
namespace {

[[noreturn]] void refuse(const std::string &what)
{
    throw std::runtime_error(what);
}

void numbers(const json_t *list, double *out, size_t count)
{
    if (list == nullptr) {
        return;
    }
    if (json_array_size(list) != count) {
        refuse("a vector of the wrong length");
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
}

double number(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return value == nullptr ? fallback : json_number_value(value);
}

std::string text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value == nullptr ? "" : value;
}

carom_shape_def read_shape(const json_t *item, const json_t *materials)
{
    carom_shape_def shape{};
    shape.orientation.w = 1.0f;
    shape.category = 1;
    shape.mask = 0xffffffffu;
    const json_t *source = json_object_get(materials, text(item, "material").c_str());
    source = source == nullptr ? item : source;
    shape.density = static_cast<float>(number(source, "density", 1000.0));
    shape.friction = static_cast<float>(number(source, "friction", 0.8));
    shape.restitution = static_cast<float>(number(source, "restitution", 0.0));
    if (const json_t *filter = json_object_get(item, "filter")) {
        shape.category = static_cast<uint32_t>(number(filter, "category", 1));
        shape.mask = static_cast<uint32_t>(number(filter, "mask", 4294967295.0));
    }
    if (json_object_get(item, "position") != nullptr) {
        refuse("a shape away from its body's origin");
    }
    if (const json_t *box = json_object_get(item, "box")) {
        double half[3] = {};
        numbers(json_object_get(box, "half_extents"), half, 3);
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = {static_cast<float>(half[0]), static_cast<float>(half[1]),
                              static_cast<float>(half[2])};
    } else if (const json_t *sphere = json_object_get(item, "sphere")) {
        shape.type = CAROM_SHAPE_SPHERE;
        shape.radius = static_cast<float>(number(sphere, "radius", 0.0));
    } else if (const json_t *capsule = json_object_get(item, "capsule")) {
        shape.type = CAROM_SHAPE_CAPSULE;
        shape.radius = static_cast<float>(number(capsule, "radius", 0.0));
        shape.half_height = static_cast<float>(number(capsule, "half_height", 0.0));
    } else {
        refuse("a shape other than box, sphere and capsule");
    }
    return shape;
}

Body read_body(const json_t *item, const json_t *materials)
{
    Body body;
    body.name = text(item, "name");
    body.dynamic = text(item, "type") != "static";
    body.pose.orientation[3] = 1.0;
    numbers(json_object_get(item, "position"), body.pose.position, 3);
    numbers(json_object_get(item, "orientation"), body.pose.orientation, 4);
    const json_t *shapes = json_object_get(item, "shapes");
    if (json_array_size(shapes) != 1) {
        refuse(body.name + ": more or fewer than one shape");
    }
    body.shape = read_shape(json_array_get(shapes, 0), materials);
    return body;
}

Scene read_scene(const json_t *root)
{
    Scene scene;
    double fallback[3] = {0.0, -9.81, 0.0};
    scene.name = text(root, "name");
    scene.dt = 1.0 / number(root, "tick_rate", 60.0);
    numbers(json_object_get(root, "gravity"), fallback, 3);
    for (int i = 0; i < 3; i++) {
        scene.gravity[i] = fallback[i];
    }
    const json_t *combine = json_object_get(root, "combine");
    if (text(combine, "friction") != "geometric" || text(combine, "restitution") != "max") {
        refuse("a combine other than geometric and max: the peers are set to these");
    }
    if (json_array_size(json_object_get(root, "arrays")) > 0) {
        refuse("arrays");
    }
    std::unordered_map<std::string, uint32_t> index;
    const json_t *materials = json_object_get(root, "materials");
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(root, "bodies"), i, item)
    {
        scene.bodies.push_back(read_body(item, materials));
        index[scene.bodies.back().name] = static_cast<uint32_t>(i);
    }
    json_array_foreach(json_object_get(root, "joints"), i, item)
    {
        auto a = index.find(text(item, "a")), b = index.find(text(item, "b"));
        if (text(item, "type") != "ball" || a == index.end() || b == index.end()) {
            refuse("a joint other than a ball between two bodies");
        }
        BallJoint joint;
        joint.a = a->second;
        joint.b = b->second;
        numbers(json_object_get(item, "anchor"), joint.anchor, 3);
        scene.joints.push_back(joint);
    }
    return scene;
}

} // namespace

Scene load_scene(const std::string &path)
{
    json_error_t error;
    json_t *root = json_load_file(path.c_str(), JSON_REJECT_DUPLICATES, &error);
    if (root == nullptr) {
        refuse(path + ": " + error.text);
    }
    try {
        Scene scene = read_scene(root);
        json_decref(root);
        scene.path = path;
        return scene;
    } catch (const std::runtime_error &problem) {
        json_decref(root);
        refuse(path + ": " + problem.what());
    }
}

double mass_of(const Body &body)
{
    const carom_shape_def &shape = body.shape;
    const double r = shape.radius;
    double volume = 0.0;
    if (!body.dynamic) {
        return 0.0;
    }
    if (shape.type == CAROM_SHAPE_BOX) {
        volume = 8.0 * shape.half_extents.x * shape.half_extents.y * shape.half_extents.z;
    } else {
        volume = 4.0 / 3.0 * M_PI * r * r * r;
    }
    if (shape.type == CAROM_SHAPE_CAPSULE) {
        volume += 2.0 * M_PI * r * r * shape.half_height;
    }
    return volume * shape.density;
}

void moments_of(const Body &body, double moments[3])
{
    const carom_shape_def &shape = body.shape;
    const double m = mass_of(body), r = shape.radius;
    if (shape.type == CAROM_SHAPE_BOX) {
        const double x = shape.half_extents.x, y = shape.half_extents.y, z = shape.half_extents.z;
        moments[0] = m / 3.0 * (y * y + z * z);
        moments[1] = m / 3.0 * (x * x + z * z);
        moments[2] = m / 3.0 * (x * x + y * y);
        return;
    }
    // A capsule along y: a cylinder between two halves of a ball.
    const double h = shape.type == CAROM_SHAPE_CAPSULE ? shape.half_height : 0.0;
    const double ball = 4.0 / 3.0 * M_PI * r * r * r * shape.density;
    const double rod = 2.0 * M_PI * r * r * h * shape.density;
    moments[1] = 0.4 * ball * r * r + 0.5 * rod * r * r;
    moments[0] = moments[2] =
        ball * (0.4 * r * r + h * h + 0.75 * h * r) + rod * (0.25 * r * r + h * h / 3.0);
}

} // namespace peers

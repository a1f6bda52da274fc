// The limits of figures (limits.txt): most that each of ours may be, and the targets that they
// miss.
#ifndef CM_PEERS_LIMITS_H
#define CM_PEERS_LIMITS_H

#include <map>
#include <string>
#include <vector>

namespace peers {

// In the order of the table's columns; one that is not judged there may be anything.
struct Figures5 {
    double of[5]; // time, overlap, joint, fell, fastest
};

class Limits {
  public:
    // Throws std::runtime_error for a table that cannot be read.
    explicit Limits(const std::string &path);
    // Prints what of a scene's figures is beyond its limit, or that it has none.
    void hold(const std::string &scene, const Figures5 &figures);
    // Prints which targets are missed, and how many limits were exceeded: 1 if any was.
    int finish() const;

  private:
    struct Limit {
        double most, target;
    };
    std::string path;
    std::map<std::string, std::vector<Limit>> rows;
    std::string missed;
    int beyond = 0, misses = 0;
};

} // namespace peers

#endif

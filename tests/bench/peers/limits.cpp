// See limits.h.
#include "limits.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace peers {

static const char *const NAMES[5] = {"time", "overlap", "joint", "fell", "fastest"};

Limits::Limits(const std::string &file) : path(file)
{
    std::ifstream table(file);
    std::string line, name, word;
    while (std::getline(table, line)) {
        std::istringstream words(line);
        if (!(words >> name) || name[0] == '#') {
            continue;
        }
        std::vector<Limit> row;
        while (words >> word) {
            const size_t slash = word.find('/'); // today/target
            const double most = word == "-" ? INFINITY : std::stod(word);
            const bool both = slash != std::string::npos;
            row.push_back({most, both ? std::stod(word.substr(slash + 1)) : most});
        }
        if (row.size() != 5) {
            throw std::runtime_error(file + ": " + name + ": expected 5 figures");
        }
        rows[name] = row;
    }
    if (rows.empty()) {
        throw std::runtime_error(file + ": no limits");
    }
}

void Limits::hold(const std::string &scene, const Figures5 &figures)
{
    auto found = rows.find(scene);
    if (found == rows.end()) {
        std::printf("  NO LIMITS");
        beyond++;
        return;
    }
    for (int i = 0; i < 5; i++) {
        const Limit &limit = found->second[i];
        const double now = figures.of[i];
        if (!(now <= limit.most) && limit.most < INFINITY) {
            std::printf("  %s above %g", NAMES[i], limit.most);
            beyond++;
        } else if (now > limit.target) {
            char text[128];
            std::snprintf(text, sizeof text, "MISSED %s: %s %.3g, wanted %g\n", scene.c_str(),
                          NAMES[i], now, limit.target);
            missed += text;
            misses++;
        }
    }
}

int Limits::finish() const
{
    std::printf("%s%d targets missed, %d figures beyond their limits (%s)\n", missed.c_str(),
                misses, beyond, path.c_str());
    return beyond > 0;
}

} // namespace peers

#include "perf/kernels/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::perf {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

static double ratioOf(const Measurement &m) { return median(m.peerTimes) / median(m.times); }

static std::string number(double value, int digits = 3) {
  char text[32];
  int decimals = value == 0 ? 0 : std::max(0, digits - 1 - int(std::floor(std::log10(std::fabs(value)))));
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// Tensor cores limit the problem, not memory.
static bool isComputeBound(const Work &work) {
  return work.peakFlops > 0 && work.flops / work.peakFlops > work.bytes / 4.8e12;
}

static std::string rateOf(const Measurement &m) {
  double seconds = median(m.times) * 1e-6;
  return isComputeBound(m.work) ? number(m.work.flops / seconds * 1e-12) + " TFLOP/s"
                                : number(m.work.bytes / seconds * 1e-9, 4) + " GB/s";
}

std::string Report::json() const {
  nlohmann::ordered_json json = {{"commit", commit}, {"build", build},     {"device", device},
                                 {"driver", driver}, {"command", command}, {"protocol", protocol}};
  json["problems"] = nlohmann::ordered_json::array();
  for (const Measurement &m : measurements) {
    nlohmann::ordered_json entry = {{"problem", m.problem}};
    if (!m.failure.empty()) {
      entry["failure"] = m.failure;
      json["problems"].push_back(entry);
      continue;
    }
    double time = median(m.times);
    entry["median_us"] = time;
    entry["least_us"] = *std::min_element(m.times.begin(), m.times.end());
    entry["tflops"] = m.work.flops / time * 1e-6;
    entry["gb_per_s"] = m.work.bytes / time * 1e-3;
    entry["roof_us"] = m.work.roof();
    entry["share_of_roof"] = m.work.roof() / time;
    entry["registers"] = m.registers;
    entry["spill_bytes"] = m.spillBytes;
    entry["shared_bytes"] = m.sharedBytes;
    entry["compile_ms"] = m.compileMilliseconds;
    entry["assemble_ms"] = m.assembleMilliseconds;
    entry["check"] = m.check;
    entry["times_us"] = m.times;
    if (!m.peerTimes.empty()) {
      entry["peer"] = m.peer;
      entry["peer_median_us"] = median(m.peerTimes);
      entry["ratio"] = ratioOf(m);
      entry["peer_times_us"] = m.peerTimes;
    }
    json["problems"].push_back(entry);
  }
  return json.dump(1) + "\n";
}

std::string Report::markdown() const {
  std::string text = "# Kernels on " + device + "\n\nCommit " + commit + ", build " + build + ". Driver " + driver +
                     ". " + protocol + "\n\nCommand: `" + command +
                     "`\n\n| problem | us | rate | share of roof | registers | spills | peer us | ratio |\n"
                     "|---|---|---|---|---|---|---|---|\n";
  double sum = 0;
  int compared = 0;
  for (const Measurement &m : measurements) {
    if (!m.failure.empty()) {
      text += "| " + m.problem + " | " + m.failure + " | | | | | | |\n";
      continue;
    }
    double time = median(m.times);
    bool hasPeer = !m.peerTimes.empty();
    text += "| " + m.problem + " | " + number(time) + " | " + rateOf(m) + " | " +
            number(100 * m.work.roof() / time, 2) + " % | " + std::to_string(m.registers) + " | " +
            std::to_string(m.spillBytes) + " | " + (hasPeer ? number(median(m.peerTimes)) : "") + " | " +
            (hasPeer ? number(ratioOf(m)) : "") + " |\n";
    if (hasPeer) {
      sum += std::log(ratioOf(m));
      ++compared;
    }
  }
  if (compared) {
    text += "\nA ratio above 1 means that jitk is faster. Geometric mean of " + std::to_string(compared) +
            " ratios: " + number(std::exp(sum / compared)) + ".\n";
  }
  return text;
}

} // namespace jitk::perf

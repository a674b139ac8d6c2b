#include "perf/kernels/Report.h"

#include <algorithm>
#include <cmath>
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
    entry["peak_tflops"] = m.work.peakFlops / 1e12;
    entry["registers"] = m.registers;
    entry["spill_bytes"] = m.spillBytes;
    entry["shared_bytes"] = m.sharedBytes;
    entry["threads"] = m.threads;
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

double Report::meanRatio() const {
  double sum = 0;
  int compared = 0;
  for (const Measurement &m : measurements) {
    if (!m.peerTimes.empty()) {
      sum += std::log(ratioOf(m));
      ++compared;
    }
  }
  return compared ? std::exp(sum / compared) : 0;
}

} // namespace jitk::perf

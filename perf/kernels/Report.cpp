#include "perf/kernels/Report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace jitk::perf {

double ratioOf(const Measurement &measurement, const PeerTimes &peer) {
  return median(peer.times) / median(measurement.times);
}

std::string Report::json() const {
  nlohmann::ordered_json json = {{"commit", commit}, {"build", build},     {"device", device},
                                 {"driver", driver}, {"command", command}, {"protocol", protocol}};
  if (!missing.empty()) {
    json["missing"] = missing;
  }
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
    if (!m.configuration.empty()) {
      entry["configuration"] = m.configuration;
    }
    entry["registers"] = m.registers;
    entry["spill_bytes"] = m.spillBytes;
    entry["shared_bytes"] = m.sharedBytes;
    entry["threads"] = m.threads;
    entry["compile_ms"] = m.compileMilliseconds;
    entry["assemble_ms"] = m.assembleMilliseconds;
    entry["check"] = m.check;
    entry["times_us"] = m.times;
    for (const PeerTimes &peer : m.peers) {
      entry["peers"][peer.name] = {
          {"median_us", median(peer.times)}, {"ratio", ratioOf(m, peer)}, {"times_us", peer.times}};
    }
    json["problems"].push_back(entry);
  }
  return json.dump(1) + "\n";
}

std::vector<std::pair<std::string, double>> Report::meanRatios() const {
  struct Sum {
    std::string name;
    double logarithms;
    int count;
  };
  std::vector<Sum> sums;
  for (const Measurement &m : measurements) {
    for (const PeerTimes &peer : m.peers) {
      auto known = std::ranges::find(sums, peer.name, &Sum::name);
      Sum &sum = known == sums.end() ? sums.emplace_back(peer.name, 0, 0) : *known;
      sum.logarithms += std::log(ratioOf(m, peer));
      ++sum.count;
    }
  }
  std::vector<std::pair<std::string, double>> means;
  for (const Sum &sum : sums) {
    means.emplace_back(sum.name, std::exp(sum.logarithms / sum.count));
  }
  return means;
}

} // namespace jitk::perf

#include "src/tools/timing/Contender.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <thread>

namespace jitk::timing {

std::string Protocol::text() const {
  return "a graph of " + std::to_string(calls) + " calls, fewer where they take more than 6 ms, " +
         std::to_string(replays) + " replays, median; " + std::to_string(restMilliseconds) +
         " ms of rest and one replay before each turn, contenders in turns A B C C B A, three times";
}

Contender::Contender(const Gpu &gpu, const Protocol &protocol, const std::function<void(void *)> &enqueue)
    : gpu_(&gpu), protocol_(protocol), calls_(fittingCalls(enqueue)), graph_(gpu.record(calls_, enqueue)) {
  gpu.replay(graph_); // warms up
}

int Contender::fittingCalls(const std::function<void(void *)> &enqueue) const {
  Gpu::Graph one = gpu_->record(1, enqueue);
  gpu_->replay(one);
  double time = gpu_->replay(one);
  return int(std::clamp(Protocol::mostMicroseconds / std::max(time, 1.0), 1.0, double(protocol_.calls)));
}

void Contender::takeTurn() {
  std::this_thread::sleep_for(std::chrono::milliseconds(protocol_.restMilliseconds));
  gpu_->replay(graph_); // the clocks come up again
  int replays = std::max(1, protocol_.replays / (2 * Protocol::rounds));
  for (int replay = 0; replay < replays; ++replay) {
    times_.push_back(gpu_->replay(graph_) / calls_);
  }
}

void takeTurns(std::span<Contender> contenders) {
  for (int round = 0; round < Protocol::rounds; ++round) {
    for (Contender &contender : contenders) {
      contender.takeTurn();
    }
    for (Contender &contender : std::views::reverse(contenders)) {
      contender.takeTurn();
    }
  }
}

double median(std::vector<double> times) {
  if (times.empty()) {
    return 0;
  }
  auto middle = times.begin() + ptrdiff_t(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

} // namespace jitk::timing

// The problems of the conformance suite: the edge cases of each op, small enough for the emulator, and the sizes of
// real models, for a GPU.

#pragma once

#include "src/tools/checked/CheckedRun.h"

#include <string>
#include <string_view>
#include <vector>

namespace jitk::conformance {

/// Edge cases; each runs on every device.
const std::vector<checked::Problem> &edgeCases();

/// Problems with more tiles than a GPU has multiprocessors, so that CTAs which stay take several, in the forms that a
/// kernel has only then: results that wait for the next tile's products, copies that go on into the next tile, rounds
/// of two widths, many blocks of K written out.
const std::vector<checked::Problem> &severalTilesCases();

/// Real sizes; a GPU runs them in moments, an emulator would take hours.
const std::vector<checked::Problem> &fullSizes();

/// Of each op that has several configurations, problems that show what they differ in: tails in each dimension, few
/// rows and many, K that is split. Few and small, since each runs in all of its configurations.
const std::vector<checked::Problem> &configurationCases();

/// Small problems that, together with the edge cases, have every configuration that the models choose over
/// `gridOfChoices`: of a device that runs the edge cases in their configurations, each runs in those that no problem
/// before it had.
const std::vector<checked::Problem> &chosenConfigurationCases();

/// Sizes of models, and sizes between and around them, wide enough for every way in which the cost model of the op
/// chooses: descriptions.
std::vector<std::string> gridOfChoices(std::string_view op);

} // namespace jitk::conformance

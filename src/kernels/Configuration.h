// The ways in which a family can build a kernel, by name.

#pragma once

#include "src/ops/Description.h"

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace jitk::kernels {

/// A candidate of a cost model.
struct Configuration {
  std::string name;
  double clocks = 0; ///< modelled; 0 where candidates are ranked and not modelled
};

/// The tile that the description names, if it names one; of a tile, `name` says all that candidates differ in.
template <typename Tile>
std::optional<Tile> namedTile(const Description &description, llvm::ArrayRef<Tile> candidates) {
  const std::string &name = description.word("configuration");
  const Tile *found = name.empty() ? candidates.end()
                                   : std::find_if(candidates.begin(), candidates.end(),
                                                  [&](const Tile &tile) { return tile.name() == name; });
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

/// The candidates with what `clocksOf` says of each, in their order.
template <typename Tile, typename Cost>
std::vector<Configuration> namesOfTiles(llvm::ArrayRef<Tile> candidates, Cost clocksOf) {
  std::vector<Configuration> all;
  for (const Tile &tile : candidates) {
    all.push_back({tile.name(), clocksOf(tile)});
  }
  return all;
}

} // namespace jitk::kernels

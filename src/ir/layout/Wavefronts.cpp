#include "src/ir/layout/Wavefronts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

namespace jitk::ir {

unsigned countWavefronts(llvm::ArrayRef<int64_t> addresses, unsigned bytes) {
  constexpr unsigned bytesPerPass = 128, bytesPerBank = 4, numBanks = 32;
  size_t lanesPerGroup = std::min<size_t>(addresses.size(), bytesPerPass / std::max(bytes, bytesPerBank));
  unsigned wavefronts = 0;
  for (; !addresses.empty(); addresses = addresses.drop_front(lanesPerGroup)) {
    llvm::SetVector<int64_t> words;
    for (int64_t address : addresses.take_front(lanesPerGroup)) {
      for (int64_t word = address / bytesPerBank; word <= (address + bytes - 1) / bytesPerBank; ++word) {
        words.insert(word);
      }
    }
    unsigned load[numBanks] = {};
    for (int64_t word : words) {
      ++load[word % numBanks];
    }
    wavefronts += *std::max_element(std::begin(load), std::end(load));
  }
  return wavefronts;
}

} // namespace jitk::ir

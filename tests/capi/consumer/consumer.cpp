#include <jitk/jitk.hpp>

int main() {
  jitk::api::Description description = jitk::api::Description::parse("matmul m=* n=64 k=64");
  return description.op() == "matmul" ? 0 : 1;
}

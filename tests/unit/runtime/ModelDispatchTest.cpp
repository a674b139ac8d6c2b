// The plans of whole models, asked for every size that they are for.

#include "src/ops/plan/ModelPlan.h"
#include "src/runtime/Plan.h"
#include "tests/unit/runtime/Stub.h"

#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/ModelDispatch");

namespace {

constexpr int64_t kMaxTokens = 4096;
constexpr const char *kModels[] = {"deepseek-v3.json", "qwen3-next-80b-a3b.json"};

ModelPlan planOf(const char *name) {
  std::ifstream file(std::string(JITK_MODELS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  Result<ModelPlan> plan = planModel(text.str(), {.tensorParallel = 1, .maxTokens = kMaxTokens});
  REQUIRE(plan.ok());
  return *std::move(plan);
}

/// A model's plan, prepared by the stub compiler and sealed.
struct SealedModel {
  explicit SealedModel(const char *name) : model(planOf(name)) {
    for (const PlannedKernel &kernel : model.kernels) {
      REQUIRE(plan.add({{std::make_shared<const Problem>(kernel.description), 0}}).ok());
    }
    PrepareOptions options;
    options.device = stub.device;
    REQUIRE(plan.prepare(std::move(options)).ok());
    REQUIRE(plan.wait(std::nullopt).ok());
    REQUIRE(plan.seal().ok());
    compilations = stub.compiler.numCompilations;
  }

  const ModelPlan model;
  StubRuntime stub;
  Plan plan{stub.runtime};
  int compilations = 0;
};

/// The description with the dimensions named left open, which is what its bucket does not decide.
std::string without(const Description &description, const std::vector<std::string> &names) {
  auto attributes = description.attributes();
  for (const std::string &name : names) {
    attributes.insert_or_assign(name, Dimension{});
  }
  return Description(description.op(), std::move(attributes)).toString();
}

std::vector<std::string> boundedDimensions(const Description &description) {
  std::vector<std::string> names;
  for (const auto &[name, value] : description.attributes()) {
    const auto *dimension = std::get_if<Dimension>(&value);
    if (dimension && !dimension->isStatic() && dimension->bound != 0) {
      names.push_back(name);
    }
  }
  return names;
}

/// Kernels that differ in the bounds of these dimensions alone.
struct Family {
  std::vector<std::string> dimensions;
  std::vector<Description> kernels;
};

std::map<std::string, Family> familiesOf(const ModelPlan &model) {
  std::map<std::string, Family> families;
  for (const PlannedKernel &kernel : model.kernels) {
    std::vector<std::string> dimensions = boundedDimensions(kernel.description);
    if (!dimensions.empty()) {
      Family &family = families[without(kernel.description, dimensions)];
      family.dimensions = dimensions;
      family.kernels.push_back(kernel.description);
    }
  }
  return families;
}

/// The kernel of the least bounds that hold the sizes; "" if there is none. Written without the table's order.
std::string leastThatHolds(const Family &family, std::span<const int64_t> sizes) {
  const Description *best = nullptr;
  auto bound = [&](const Description &kernel, size_t i) { return kernel.dimension(family.dimensions[i]).bound; };
  for (const Description &kernel : family.kernels) {
    bool holds = true, smaller = best == nullptr;
    for (size_t i = 0; i < sizes.size(); ++i) {
      holds &= sizes[i] <= bound(kernel, i);
      smaller |= best && bound(kernel, i) < bound(*best, i);
    }
    best = holds && smaller ? &kernel : best;
  }
  return best ? best->toString() : "";
}

int64_t largest(const Family &family, size_t dimension) {
  int64_t all = 0;
  for (const Description &kernel : family.kernels) {
    all = std::max(all, kernel.dimension(family.dimensions[dimension]).bound);
  }
  return all;
}

} // namespace

TEST_CASE("every size of a model's range finds a kernel that was prepared, and every kernel is found") {
  for (const char *name : kModels) {
    CAPTURE(name);
    SealedModel sealed(name);
    std::map<std::string, Family> families = familiesOf(sealed.model);
    REQUIRE(families.size() > 10);
    size_t asked = 0, wrong = 0;
    for (const auto &[pattern, family] : families) {
      CAPTURE(pattern);
      Result<Dispatch> dispatch =
          sealed.plan.dispatch(*sealed.stub.device, Problem(family.kernels.front()), family.dimensions);
      REQUIRE(dispatch.ok());
      CHECK(dispatch->kernels().size() == family.kernels.size());
      std::set<std::string> found;
      auto ask = [&](const std::vector<int64_t> &sizes) {
        std::optional<size_t> place = dispatch->find(sizes);
        std::string kernel = place ? dispatch->kernels()[*place]->problem().text : "";
        wrong += kernel != leastThatHolds(family, sizes);
        found.insert(kernel);
        ++asked;
      };
      std::vector<int64_t> ends;
      for (size_t i = 0; i < family.dimensions.size(); ++i) {
        ends.push_back(largest(family, i));
      }
      // Each dimension over its whole range, the others at both ends of theirs.
      for (size_t i = 0; i < ends.size(); ++i) {
        for (bool atEnd : {false, true}) {
          std::vector<int64_t> sizes = atEnd ? ends : std::vector<int64_t>(ends.size(), 1);
          for (sizes[i] = 0; sizes[i] <= ends[i]; ++sizes[i]) {
            ask(sizes);
          }
        }
      }
      std::set<std::string> prepared;
      for (const Description &kernel : family.kernels) {
        prepared.insert(kernel.toString());
      }
      CHECK(found == prepared);
      for (size_t i = 0; i < ends.size(); ++i) {
        std::vector<int64_t> beyond = ends;
        ++beyond[i];
        CHECK_FALSE(dispatch->find(beyond).has_value());
      }
    }
    CHECK(wrong == 0);
    CHECK(asked > families.size() * kMaxTokens);
    CHECK(sealed.stub.compiler.numCompilations == sealed.compilations);
  }
}

TEST_CASE("one table of all products of a model finds what the table of each does") {
  for (const char *name : kModels) {
    CAPTURE(name);
    SealedModel sealed(name);
    for (const char *op : {"matmul", "fp8_block_matmul"}) {
      std::map<std::string, Family> families = familiesOf(sealed.model);
      std::erase_if(families, [&](const auto &family) { return family.second.kernels.front().op() != op; });
      size_t wrong = 0;
      for (const auto &[pattern, family] : families) {
        const Description &first = family.kernels.front();
        Result<Dispatch> all = sealed.plan.dispatch(*sealed.stub.device, Problem(first), {"m", "n", "k"});
        REQUIRE(all.ok());
        for (int64_t m = 1; m <= kMaxTokens; ++m) {
          const int64_t sizes[] = {m, first.dimension("n").value, first.dimension("k").value};
          std::optional<size_t> place = all->find(sizes);
          wrong += !place || all->kernels()[*place]->problem().text != leastThatHolds(family, std::span(sizes, 1));
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_SUITE_END();

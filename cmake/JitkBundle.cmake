# Target `bundle`: a relocatable archive of the libraries, the tools and the tests that a machine with a GPU runs. It
# needs glibc >= 2.36 and nothing else of the system.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(jitk_bundle ${PROJECT_BINARY_DIR}/jitk-${PROJECT_VERSION}-linux-x86_64.tar.xz)
add_custom_target(bundle
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/pack_bundle.py
    --output ${jitk_bundle} --name jitk-${PROJECT_VERSION} --limit-mib 40
    --program $<TARGET_FILE:jitk> --program $<TARGET_FILE:jitk-opt> --program $<TARGET_FILE:jitk_conformance>
    --program $<TARGET_FILE:jitk_gpu_test> --program $<TARGET_FILE:bench_kernels>
    --library $<TARGET_FILE_DIR:jitk_shared>/$<TARGET_SONAME_FILE_NAME:jitk_shared>
    --library $<TARGET_FILE:jitk-compiler>
    --data ${PROJECT_SOURCE_DIR}/include/jitk/jitk.h=include/jitk/jitk.h
    --data ${PROJECT_SOURCE_DIR}/include/jitk/jitk.hpp=include/jitk/jitk.hpp
    --data ${PROJECT_SOURCE_DIR}/LICENSE=LICENSE
    --data ${PROJECT_SOURCE_DIR}/perf/kernels/problems/matmul.txt=problems/matmul.txt
    --data ${PROJECT_SOURCE_DIR}/perf/kernels/problems/fp8_block_matmul.txt=problems/fp8_block_matmul.txt
    --data ${PROJECT_SOURCE_DIR}/perf/kernels/problems/flash_attention.txt=problems/flash_attention.txt
    --data ${PROJECT_SOURCE_DIR}/perf/kernels/problems/peers.txt=problems/peers.txt
    --data ${PROJECT_SOURCE_DIR}/tests/gpu/run.sh=run-gpu-tests.sh
    --data ${PROJECT_SOURCE_DIR}/tests/gpu/sanitize.sh=sanitize.sh
    --data ${PROJECT_SOURCE_DIR}/tests/data/models/deepseek-v3.json=models/deepseek-v3.json
    --data ${PROJECT_SOURCE_DIR}/tests/data/models/qwen3-next-80b-a3b.json=models/qwen3-next-80b-a3b.json
  DEPENDS jitk jitk-opt jitk_conformance jitk_gpu_test bench_kernels jitk_shared jitk-compiler
  COMMENT "Packing ${jitk_bundle}"
  VERBATIM)

# By night: the archive is packed, unpacked elsewhere, and run.
if(NOT JITK_SANITIZE)
  add_test(NAME bundle/pack COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target bundle)
  set_tests_properties(bundle/pack PROPERTIES LABELS nightly FIXTURES_SETUP bundle)
  add_test(NAME bundle/run COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/bundle/test_bundle.py)
  set_tests_properties(bundle/run PROPERTIES LABELS nightly FIXTURES_REQUIRED bundle
    ENVIRONMENT JITK_TEST_BUNDLE=${jitk_bundle})
endif()

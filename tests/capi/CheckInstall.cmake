# Installs jitk aside, moves the tree, and builds programs against it: by find_package and by pkg-config; and runs one in
# Python.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/staged --component jitk)
# Nothing installed may name the place that it was installed to.
file(RENAME ${WORK}/staged ${WORK}/moved)

run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer_c)
run(${WORK}/build/consumer_cpp)

find_program(PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
run(${CMAKE_COMMAND} -E env --unset=JITK_LIBRARY PYTHONPATH=${WORK}/moved/${LIBDIR}/jitk/python
  ${PYTHON} -B ${CONSUMER}/consumer.py)

find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "skipped: needs pkg-config, found none")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs jitk OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${C_COMPILER} -std=c11 -pedantic -Wall -Wextra -Werror ${CONSUMER}/consumer.c -o ${WORK}/consumer_pc ${flags}
  -Wl,-rpath,${WORK}/moved/${LIBDIR})
run(${WORK}/consumer_pc)

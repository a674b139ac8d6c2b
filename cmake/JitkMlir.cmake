# Finds Debian's LLVM/MLIR 22 and prepares a static link with one precompiled header.

# No version is asked for: the package's version file matches major.minor only.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "jitk needs LLVM/MLIR 22: found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Debian's export names the LLVM dylib in the link interface of each MLIR target. Linked as it is, two LLVMs end up
# in one process; so the dylib goes and the components are named.
set(jitk_mlir_libraries
  MLIRParser MLIRAsmParser MLIRIR MLIRPass MLIRTransforms MLIRTransformUtils MLIRSupport MLIRAnalysis
  MLIRArithDialect MLIRSCFDialect MLIRControlFlowDialect MLIRMathDialect MLIRUBDialect MLIRFuncDialect MLIRGPUDialect
  MLIRLLVMDialect MLIRNVVMDialect
  MLIRArithToLLVM MLIRSCFToControlFlow MLIRControlFlowToLLVM MLIRMathToLLVM MLIRUBToLLVM MLIRIndexToLLVM
  MLIRReconcileUnrealizedCasts MLIRLLVMCommonConversion MLIRArithTransforms MLIRSCFTransforms
  MLIRFunctionInterfaces MLIRInferTypeOpInterface MLIRSideEffectInterfaces MLIRControlFlowInterfaces MLIRLoopLikeInterface
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation MLIRTargetLLVMIRExport
  MLIROptLib MLIRDebug MLIRObservers MLIRPluginsLib)
set(jitk_llvm_components
  Core Support Passes Analysis ScalarOpts InstCombine TransformUtils Vectorize ipo Linker BitReader BitWriter IRReader
  NVPTXCodeGen NVPTXDesc NVPTXInfo X86CodeGen X86Desc X86Info X86AsmParser
  OrcJIT JITLink OrcTargetProcess ExecutionEngine MC Target TargetParser)

get_property(jitk_mlir_all GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(lib IN LISTS MLIR_ALL_LIBS MLIR_EXPORTED_TARGETS jitk_mlir_libraries)
  if(TARGET ${lib})
    get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(REMOVE_ITEM links LLVM "\$<LINK_ONLY:LLVM>")
      set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endif()
endforeach()
llvm_map_components_to_libnames(jitk_llvm_libraries ${jitk_llvm_components})

add_library(jitk_mlir INTERFACE)
target_include_directories(jitk_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_link_libraries(jitk_mlir INTERFACE ${jitk_mlir_libraries} ${jitk_llvm_libraries})
separate_arguments(jitk_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(jitk_mlir INTERFACE ${jitk_llvm_definitions})

# One precompiled header for all of the compiler library: a file takes 4 s with it, 25 s without.
add_library(jitk_mlir_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/MlirPch.cpp)
jitk_configure_target(jitk_mlir_pch)
target_link_libraries(jitk_mlir_pch PRIVATE jitk_mlir)
target_precompile_headers(jitk_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)

function(jitk_use_mlir target)
  target_link_libraries(${target} PRIVATE jitk_mlir)
  target_precompile_headers(${target} REUSE_FROM jitk_mlir_pch)
endfunction()

# Generates from one .td file, into the same folder of the build tree, and hangs the result on jitk_dialects_inc:
#   jitk_tablegen(XOps.td XOps.h.inc -gen-op-decls XOps.cpp.inc -gen-op-defs OPTIONS ...)
function(jitk_tablegen td)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(pairs ${arg_UNPARSED_ARGUMENTS})
  while(pairs)
    list(POP_FRONT pairs output generator)
    mlir_tablegen(${output} ${generator} ${arg_OPTIONS} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endwhile()
  get_filename_component(name ${td} NAME_WE)
  add_public_tablegen_target(jitk_${name}_inc)
  add_dependencies(jitk_dialects_inc jitk_${name}_inc)
endfunction()

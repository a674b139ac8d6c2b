// Enums of the `tile` dialect. In the text they are i64 integers.

#ifndef JITK_IR_TILE_TILEENUMS_TD
#define JITK_IR_TILE_TILEENUMS_TD

include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I64EnumAttrCase> cases> : I64EnumAttr<name, summary, cases> {
  let cppNamespace = "::jitk::ir::tile";
}

def Tile_MemorySpace : Tile_Enum<"MemorySpace", "memory space", [
    I64EnumAttrCase<"GM", 0, "gm">, I64EnumAttrCase<"L1", 1, "l1">, I64EnumAttrCase<"L0A", 2, "l0a">,
    I64EnumAttrCase<"L0B", 3, "l0b">, I64EnumAttrCase<"L0C", 4, "l0c">, I64EnumAttrCase<"UB", 5, "ub">,
    I64EnumAttrCase<"Global", 6, "global">, I64EnumAttrCase<"Shared", 7, "shared">,
    I64EnumAttrCase<"Local", 8, "local">, I64EnumAttrCase<"Register", 9, "register">]>;
def Tile_Layout : Tile_Enum<"Layout", "storage order", [I64EnumAttrCase<"ND", 0, "nd">, I64EnumAttrCase<"NZ", 1, "nz">]>;
def Tile_Policy : Tile_Enum<"Policy", "buffering", [
    I64EnumAttrCase<"SingleBuffer", 0, "single_buffer">, I64EnumAttrCase<"DoubleBuffer", 1, "double_buffer">]>;
def Tile_Engine : Tile_Enum<"Engine", "engine", [
    I64EnumAttrCase<"Cube", 0, "cube">, I64EnumAttrCase<"Vector", 1, "vector">, I64EnumAttrCase<"MTE2", 2, "mte2">,
    I64EnumAttrCase<"MTE3", 3, "mte3">, I64EnumAttrCase<"MTE1", 4, "mte1">, I64EnumAttrCase<"Fixpipe", 5, "fixpipe">]>;
def Tile_Pipe : Tile_Enum<"Pipe", "pipe", [
    I64EnumAttrCase<"PIPE_M", 0>, I64EnumAttrCase<"PIPE_V", 1>, I64EnumAttrCase<"PIPE_MTE1", 2>,
    I64EnumAttrCase<"PIPE_MTE2", 3>, I64EnumAttrCase<"PIPE_MTE3", 4>, I64EnumAttrCase<"PIPE_FIX", 5>,
    I64EnumAttrCase<"PIPE_S", 6>]>;
def Tile_EventID : Tile_Enum<"EventID", "event", [
    I64EnumAttrCase<"EVENT_ID0", 0>, I64EnumAttrCase<"EVENT_ID1", 1>, I64EnumAttrCase<"EVENT_ID2", 2>,
    I64EnumAttrCase<"EVENT_ID3", 3>, I64EnumAttrCase<"EVENT_ID4", 4>, I64EnumAttrCase<"EVENT_ID5", 5>]>;
def Tile_Lifetime : Tile_Enum<"Lifetime", "lifetime", [
    I64EnumAttrCase<"Default", 0, "default">, I64EnumAttrCase<"LoopCarried", 1, "loop_carried">]>;

#endif

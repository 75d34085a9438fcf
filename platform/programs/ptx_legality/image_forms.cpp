// Tensor maps, queries of textures and surfaces, and four texels at once.
#include "platform/programs/ptx_legality/form_book.h"

namespace warpline::ptx {
namespace {

constexpr char kNineA[] = "90a 100a 100f 101a 101f 103a 103f 110a 110f 120a 120f 121a 121f";
constexpr char kTenA[] = "100a 100f 101a 101f 103a 103f 110a 110f 120a 120f 121a 121f";

constexpr Form kTensorMap[] = {
    {"^replace tile global_address b1024 b64 global|shared::cta?", "=map b64", 83, 90, kNineA},
    {"^replace tile rank b1024 b32 global|shared::cta?", "=map b32", 83, 90, kNineA},
    {"^replace tile box_dim|element_stride b1024 b32 global|shared::cta?", "=map =dimension u32", 83, 90,
     kNineA},
    {"^replace tile global_dim b1024 b32 global|shared::cta?", "=map =dimension u32", 83, 90, kNineA},
    {"^replace tile global_stride b1024 b64 global|shared::cta?", "=map =dimension b64", 83, 90, kNineA},
    {"^replace tile elemtype b1024 b32 global|shared::cta?", "=map int<16", 83, 90, kNineA},
    {"^replace tile interleave_layout b1024 b32 global|shared::cta?", "=map int<3", 83, 90, kNineA},
    {"^replace tile swizzle_mode b1024 b32 global|shared::cta?", "=map int<4", 83, 90, kNineA},
    {"^replace tile fill_mode b1024 b32 global|shared::cta?", "=map int<2", 83, 90, kNineA},
    {"^replace tile swizzle_atomicity b1024 b32 global|shared::cta?", "=map int<4", 86, 100, kTenA},
    {"^cp_fenceproxy ^global shared::cta tensormap::generic release cta|cluster|gpu|sys sync aligned",
     "=matrix =matrix =128", 83, 90},
};
constexpr Form kTextureQuery[] = {
    {"width|height|depth|channel_data_type|channel_order|normalized_coords|force_unnormalized_coords|filter_"
     "mode|"
     "addr_mode_0|addr_mode_1|addr_mode_2|array_size|num_mipmap_levels|memory_layout b32",
     ">b32 =queried", 60, 20},
    {"num_samples b32", ">b32 =queried", 60, 30},
    {"^level width|height|depth b32", ">b32 =queried u32|u32*1", 60, 30},
};
// Four texels of one component; with offsets, or with a reference to compare with.
constexpr Form kGather[] = {
    {"r|g|b|a 2d|a2d|cube|acube v4 f32|s32|u32 f32", "=gathered =texture", 60, 20},
    {"r|g|b|a 2d|a2d v4 f32|s32|u32 f32", "=gathered =texture =adjustment", 60, 20},
    {"r|g|b|a 2d|a2d|cube|acube v4 f32|s32|u32 f32", "=gathered =texture f32", 60, 20},
    {"r|g|b|a 2d|a2d v4 f32|s32|u32 f32", "=gathered =texture =adjustment f32", 60, 20},
    {"r|g|b|a 2d|a2d|cube|acube v4 f32|s32|u32 f32", "=gathered =bare-handle =texture", 60, 20},
    {"r|g|b|a 2d|a2d v4 f32|s32|u32 f32", "=gathered =bare-handle =texture =adjustment", 60, 20},
    {"r|g|b|a 2d|a2d|cube|acube v4 f32|s32|u32 f32", "=gathered =bare-handle =texture f32", 60, 20},
    {"r|g|b|a 2d|a2d v4 f32|s32|u32 f32", "=gathered =bare-handle =texture =adjustment f32", 60, 20},
};
constexpr Form kSurfaceQuery[] = {
    {"width|height|depth|channel_data_type|channel_order|array_size|memory_layout b32", ">b32 =queried", 60,
     20},
};

}  // namespace

std::vector<FormFamily> image_forms() {
  return {{"tensormap", "", "PTX ISA, tensormap.replace", true, kTensorMap},
          {"tld4", "", "PTX ISA, tld4", true, kGather},
          {"txq", "", "PTX ISA, txq", true, kTextureQuery},
          {"suq", "", "PTX ISA, suq", true, kSurfaceQuery}};
}

}  // namespace warpline::ptx

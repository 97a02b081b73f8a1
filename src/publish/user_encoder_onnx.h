#pragma once
// The user model of a device as an ONNX graph: clicks [clicks, D], oldest first, to the user vector [D]. The
// same function as device::UserModel, for whoever runs it elsewhere. No clicks read as one row of zeros
// there, which the caller of a graph must hand in.

#include "device/pack/device_pack.h"
#include "formats/onnx_graph.h"

namespace sotto::publish {

Result<std::string> user_encoder_onnx(const device::PackUserModel& model, std::uint32_t dimension,
                                      const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace sotto::publish

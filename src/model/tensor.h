#pragma once
// The part of torch that Sotto uses: tensors, autograd functions, modules. The whole of <torch/torch.h> takes
// twice as long to compile, in every file anew even when it is precompiled.

#include <torch/csrc/autograd/custom_function.h>
#include <torch/cuda.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

# The driver API from Python, as PyCUDA and Numba have it: a kernel in PTX, loaded, launched, and its result looked at.
import ctypes

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry number(.param .u64 out)
{
  .reg .b32 %r;
  .reg .b64 %d<4>;
  mov.u32 %r, %tid.x;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r;
  ret;
}
"""

cuda = ctypes.CDLL("libcuda.so")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name}: {status}")


context, module, kernel, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"number")
call("cuMemAlloc_v2", ctypes.byref(out), ctypes.c_size_t(128))
arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(out), ctypes.c_void_p))
call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
found = (ctypes.c_uint32 * 32)()
call("cuMemcpyDtoH_v2", found, out, ctypes.c_size_t(128))
print("PASSED" if list(found) == list(range(32)) else "FAILED")

# cmake -DNVCC=.. -DSOURCE=.. -DKERNELS=FILE.cu -DIMAGE=.. -P CompileImage.cmake: compiles a file of kernels for GPUs. What ptxas says of
# registers and memory goes to IMAGE.log, for tests/gpu/compile.py. No operations are contracted, denormals are flushed as on the CPU, and
# divisions are exact.
execute_process(
  COMMAND ${NVCC} -fatbin -std=c++20 -O3 --expt-relaxed-constexpr -fmad=false -ftz=true -prec-div=true -prec-sqrt=true -Xptxas -v -Xfatbin=-compress-all
          -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90] -I ${SOURCE} -MD -MF ${IMAGE}.d
          -o ${IMAGE} ${KERNELS}
  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
file(WRITE ${IMAGE}.log "${said}")
if(failed)
  message(FATAL_ERROR "${said}")
endif()

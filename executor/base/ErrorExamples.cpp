#include "executor/base/ErrorExamples.h"

namespace lstmc {

namespace {

struct Example {
  ErrorCode code;
  std::string_view text;
};

constexpr Example kExamples[] = {
    {ErrorCode::E0103, "    for i in range(3):\n"
                       "    \tx = tanh(x)                     # a tab"},
    {ErrorCode::E0105, "    name = f\"layer{i}\"               # write \"layer%d\" % i"},
    {ErrorCode::E0106, "    x = (1, 2 = 3)"},
    {ErrorCode::E0107, "    while n > 0:\n"
                       "        n -= 1"},
    {ErrorCode::E0108, "    sizes[0] = 256                   # write sizes = [256] + sizes[1:]"},
    {ErrorCode::E0109, "    x = ((((...((1))...))))          # 201 brackets"},
    {ErrorCode::E0201, "    x = Embeding(data, input_dim=65, output_dim=128)"},
    {ErrorCode::E0202, "    y = FullyConnected(x, num_hiden=10)"},
    {ErrorCode::E0203, "    y = FullyConnected(x)            # num_hidden is left out"},
    {ErrorCode::E0204, "    y = FullyConnected(x, num_hidden=\"ten\")"},
    {ErrorCode::E0205, "    x = Embedding(data, weight, bias, input_dim=65, output_dim=128)"},
    {ErrorCode::E0206, "    w = Variable(\"w\", shape=(0, 4))"},
    {ErrorCode::E0208, "    x = Concat(a, b)                 # a is float32, b is int32"},
    {ErrorCode::E0209, "    a = Variable(\"w\", shape=(4, 8))\n"
                       "    b = Variable(\"w\", shape=(4, 9))"},
    {ErrorCode::E0210, "    from gates import cell\n"
                       "    def cell(x): return tanh(x)"},
    {ErrorCode::E0211, "    def f(data: float32[_, 8]): return tanh(data)"},
    {ErrorCode::E0212, "    def f(data: float32[8]):\n"
                       "        y = x + 1\n"
                       "        x = data\n"
                       "        return y"},
    {ErrorCode::E0213, "    y = Custom(x, op_type=\"nce\")"},
    {ErrorCode::E0214, "    fit(net, optimiser=\"adam\")       # the key is optimizer"},
    {ErrorCode::E0215, "    T = dim(\"seq\", 35, max=400)"},
    {ErrorCode::E0302, "    def f(n): return f(n - 1)"},
    {ErrorCode::E0303, "    half = hidden // 0"},
    {ErrorCode::E0304, "    n = 2 ** 63"},
    {ErrorCode::E0305, "    [1, 2, 3, 4][4]"},
    {ErrorCode::E0306, "    assert hidden % 2 == 0, \"hidden is even\""},
    {ErrorCode::E0307, "    from ..cells import gru"},
    {ErrorCode::E0308,
     "    from b import g                  # in a.lnet, while b.lnet has: from a import f"},
    {ErrorCode::E0309, "    ys, s = foreach(lambda x, s: (x, Concat(s, s)), data, s)"},
    {ErrorCode::E0310, "    out = []\n"
                       "    def f(x): out.append(x)"},
    {ErrorCode::E0311, "    for t in range(200000): h, c = cell(data[t], h, c)"},
    {ErrorCode::E0312, "    for i in range(1000000000): pass"},
    {ErrorCode::E0313, "    compose = lambda f: lambda x: f(f(x))    # nested 300 times"},
    {ErrorCode::E0314, "    [0] * 100000000"},
    {ErrorCode::E0315, "    tanh(x, name=\"n\" * 5000)"},
    {ErrorCode::E0316, "    lstmc compile --limit source=1K m.lnet --dry-run"},
    {ErrorCode::E0317, "    n = 1 + \"a\""},
    {ErrorCode::E0318, "    lstmc compile m.lnet --net encodr --dry-run"},
    {ErrorCode::E0319, "    y = SoftmaxOutput(x, label, preserve_shape=True, multi_output=True)"},
    {ErrorCode::E0401, "    lstmc compile m.lnet --mem 100M -o m.lstmc"},
    {ErrorCode::E0402, "    x = zeros((1000000000, 1000000000, 1000))"},
    {ErrorCode::E0403, "    lstmc compile m.lnet --entry step --dry-run     # m.lnet returns "
                       "tanh(x), which is no loss"},
    {ErrorCode::E0501, "    lstmc run m.lnet -i data=0 -d gpu:0"},
    {ErrorCode::E0502, "    lstmc devices                    # on a processor from before 2013"},
    {ErrorCode::E0503,
     "    lstmc launch -n 2 -- train m.lnet -o ck    # where there is no Open MPI"},
    {ErrorCode::E0601, "    lstmc run none.lstmc"},
    {ErrorCode::E0602, "    head -c 1000 m.lstmc > cut.lstmc; lstmc run cut.lstmc"},
    {ErrorCode::E0603, "    lstmc inspect picture.npy        # which is no npy file"},
    {ErrorCode::E0604, "    lstmc inspect m.safetensors      # whose header has an offset beyond "
                       "the end of the file"},
    {ErrorCode::E0605,
     "    lstmc inspect m.safetensors      # whose tensor is F32 [2, 3] in 20 bytes"},
    {ErrorCode::E0606, "    lstmc inspect table.csv --limit csv-line=10"},
    {ErrorCode::E0607, "    year,value                       # a table with a cell that looks like "
                       "a number and is none\n"
                       "    1987,3.x"},
    {ErrorCode::E0608, "    lstmc compile m.lnet -o m.lstmc; lstmc compile m.lnet -o m.lstmc"},
    {ErrorCode::E0609,
     "    printf x >> ck/update-000100/model.safetensors; lstmc eval ck --data text:input.txt"},
    {ErrorCode::E0610, "    lstmc run m.lnet --params weights.safetensors -i data=0     # which "
                       "are those of another network"},
    {ErrorCode::E0611, "    lstmc run m.lstmc                # with one byte of the plan changed"},
    {ErrorCode::E0612, "    year,value,year                  # a column of a table twice"},
    {ErrorCode::E0613, "    lstmc inspect objects.npy        # dtype \"|O\": pickled Python"},
    {ErrorCode::E0701, "    lstmc train m.lnet --data text:input.txt -o ck --lr 1e30"},
    {ErrorCode::E0702, "    lstmc train m.lnet --data text:input.txt -o ck -d 2xcpu "
                       "--check-replicas 1     # and a bit flips in the memory of cpu:1"},
    {ErrorCode::E0703, "    y = take(table, data * 3)        # data is 0 to 9, table has 10 rows"},
    {ErrorCode::E0704, "    for i in range(40): x = sigmoid(FullyConnected(x, num_hidden=16))"},
    {ErrorCode::E0801,
     "    kill -9 PROCESS                  # of a rank that lstmc launch -v has named"},
    {ErrorCode::E0802, "    (none: each one is a bug of ours, or a machine, a debugger or a disk "
                       "that keeps a thread from its work for a minute)"},
    {ErrorCode::E0803, "    (none: each one is a bug of ours, or of a hook in a test)"},
    {ErrorCode::E0804, "    lstmc launch -n 2 -- train m.lnet --data text:words -o ck    # words "
                       "differs from host to host"},
    {ErrorCode::E0901, "    (ulimit -v 1000000; lstmc run large.lnet -i data=0)"},
    {ErrorCode::E0001, "    lstmc compile m.lnet --dry-run --frobnicate"},
    {ErrorCode::E0002, "    lstmc eval ck --data text:input.txt --expect 'loss<0.1'"},
    {ErrorCode::E0099, "    (none: each one is a bug of ours)"},
};

} // namespace

std::string_view errorExample(ErrorCode code) {
  for (const Example &example : kExamples)
    if (example.code == code)
      return example.text;
  return {};
}

} // namespace lstmc

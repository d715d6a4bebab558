#include "frontend/python/Operators.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/lnet/Load.h"
#include "frontend/symbol/OperandForms.h"
#include "frontend/symbol/Symbol.h"

namespace nb = nanobind;

namespace lstmc::python {

static const char *whenLeftOut(const symbol::OpInput &input) {
  return input.parameter  ? "parameter"
         : input.label    ? "label"
         : input.optional ? "absent"
                          : "required";
}

static nb::tuple recordOf(const symbol::OpSignature &op) {
  nb::list inputs, attributes;
  for (const symbol::OpInput &input : op.inputs)
    inputs.append(nb::make_tuple(input.name, whenLeftOut(input)));
  for (const symbol::OpAttribute &attribute : op.attributes)
    attributes.append(nb::make_tuple(attribute.name, symbol::wantedText(attribute),
                                     attribute.required
                                         ? nb::object(nb::none())
                                         : nb::object(nb::str(attribute.defaultText.c_str())),
                                     attribute.aliases));
  return nb::make_tuple(op.name, op.aliases, inputs, op.variadic, attributes, op.summary);
}

void addOperators(nb::module_ &module) {
  module.def(
      "operators",
      [] {
        nb::list records;
        for (const symbol::OpSignature &op : symbol::allOps())
          records.append(recordOf(op));
        return records;
      },
      "The records of all ops.");
  module.def(
      "operand_forms",
      [] {
        nb::list rows;
        for (const symbol::OperandForms &forms : symbol::operandForms())
          rows.append(nb::make_tuple(forms.tensors->name, forms.stretching->name,
                                     forms.number->name, forms.numberFirst->name));
        return rows;
      },
      "(op of two tensors, broadcasting op, op with a number on the right, op with a number on the "
      "left) of all functions of two operands.");
  module.def(
      "fit_keys",
      [] {
        std::vector<std::string> keys;
        for (std::string_view key : lnet::fitKeys())
          keys.emplace_back(key);
        return keys;
      },
      "The keys of fit(..).");
}

} // namespace lstmc::python

// specbench generate: one prompt, one continuation, ids and text.
#pragma once

#include <string>

#include "results/record.h"
#include "suites/context.h"

namespace specbench::suites {

/// Decodes --prompt speculatively (as the options say) into the table "generated" of the record.
void run_generate(const Context& context, results::Record& record);

/// Prompt and continuation, for the terminal; empty where decoding failed before there was any.
std::string generated_text(const results::Record& record);

}  // namespace specbench::suites

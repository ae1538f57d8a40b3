// The functions that open() calls, one per format. Each function is in a separate file.
#pragma once

#include <memory>

#include "file.hpp"
#include "reader.hpp"

namespace steadfold::readers {

bool looks_like_npy(const File& file);
bool looks_like_npz(const File& file);
bool looks_like_binpsllh(const File& file);
bool looks_like_sitelh(const File& file);

/// Throws Error if a file that is to be read as raw numbers seems to have other contents.
void refuse_no_numbers(const File& file);

std::unique_ptr<Source> open_npy(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_npz(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_binpsllh(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_raw(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_psllh(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_sitelh(std::unique_ptr<File> file, const Options& options);
std::unique_ptr<Source> open_table(std::unique_ptr<File> file, Format format, const Options& options);

}  // namespace steadfold::readers

// Chooses which part of a file is read: the column of a table, the tree of a sitelh file, the member of an npz file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"

namespace steadfold::readers {

/// Returns the name that the options choose, or an empty text if they choose by number or do not choose. Throws Error
/// if they choose twice.
const std::string& chosen_name(const File& file, const Options& options);

/// The things of which one is read, in the order of the file.
class Choosable {
 public:
  /// `noun` names one of the things. The arguments must live as long as the object.
  Choosable(const File& file, std::string_view noun, const std::vector<std::string>& names)
      : file_(file), noun_(noun), names_(names) {}

  /// Returns the number of the thing that the options choose, or of the only one if they do not choose. Throws Error if
  /// the file does not have it. `hint` continues the suggestion after an unknown name.
  std::size_t chosen(const Options& options, std::string_view hint = "") const;

 private:
  std::size_t named(const std::string& name, std::string_view hint) const;
  std::size_t numbered(const std::string& digits) const;
  std::string known() const;

  const File& file_;
  std::string_view noun_;
  const std::vector<std::string>& names_;
};

}  // namespace steadfold::readers

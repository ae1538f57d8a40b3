// What `steadfold doctor` runs, on this machine: nothing is wrong, and the digest is the one that the README shows.
#include "program/doctor/examination.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/directory.hpp"

namespace steadfold::tests::examination_test {
namespace {

TEST(GoldenExamination, HasTheDigestOfTheReadme) {
  const Examination found = examine_alone();
  EXPECT_EQ(found.wrong, std::vector<std::string>());
  EXPECT_GE(found.cases, 100u);
  EXPECT_GE(found.checked, 250u);
  std::ostringstream readme;
  readme << std::ifstream(directory() + "/../README.md").rdbuf();
  EXPECT_NE(readme.str().find(found.digest), std::string::npos) << found.digest;
}

}  // namespace
}  // namespace steadfold::tests::examination_test

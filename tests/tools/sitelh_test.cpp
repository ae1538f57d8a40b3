// Per-site log-likelihoods of trees, as IQ-TREE, RAxML-NG, RAxML and TREE-PUZZLE write them.
#include "scratch.hpp"

namespace steadfold::readers::testing::sitelh_test {
namespace {

const std::vector<double> first = {-3.25, -1.5, -2e-3, -10.0625}, second = {-4.5, -1.25, -0.0, -1e2};
// IQ-TREE (-wsl) and RAxML-NG (--sitelh) write one tree, RAxML (-f g) several, with tabs behind their names.
const std::string one = "1 4\nSite_Lh   -3.25 -1.5 -0.002 -10.0625\n";
const std::string two = "  2  4\ntr1\t-3.25 -1.5 -0.002 -10.0625 \ntr2\t-4.5 -1.25 -0 -100 \n";

TEST(Sitelh, OneTree) {
  for (const char* extension : {".sitelh", ".siteLH", ".raxml.siteLH", ".T7", ""}) {
    const Scratch file(extension, one);
    expect_bits(file.path(), first);
    expect_bits(file.path(), first, {.column = "Site_Lh"});
    expect_bits(file.path(), first, {.column = "0"});
    EXPECT_EQ(open(file.path())->format(), Format::sitelh);
    EXPECT_EQ(open(file.path())->found().tree, "Site_Lh");
  }
  const Scratch named(".txt", one);
  expect_bits(named.path(), first, {.format = Format::sitelh});
  const Scratch floats(".sitelh", one);
  expect_bits(floats.path(), std::vector<float>{-3.25F, -1.5F, -0.002F, -10.0625F}, {.type = Type::f32});
}

TEST(Sitelh, SeveralTrees) {
  for (const std::string& content :
       {two, "\xEF\xBB\xBF" + two,
        std::string("2 4\r\ntr1 -3.25 -1.5\r\n -0.002\r\n\r\n-10.0625\r\ntr2\r\n-4.5 -1.25 -0 -100")}) {
    const Scratch file(".sitelh", content);
    expect_bits(file.path(), first, {.column = "tr1"});
    expect_bits(file.path(), second, {.column = "tr2"});
    expect_bits(file.path(), second, {.column = "1"});
    EXPECT_EQ(open(file.path(), {.column = "1"})->found().tree, "tr2");
  }
  const Scratch numbered(".sitelh", "2 1\n1 -5\n2 -6\n");
  expect_bits(numbered.path(), std::vector<double>{-6}, {.column = "1"});
  expect_bits(numbered.path(), std::vector<double>{-5}, {.column_name = "1"});
  const Scratch empty(".sitelh", "2 0\na\nb\n");
  expect_bits(empty.path(), std::vector<double>{}, {.column = "b"});
}

TEST(Sitelh, TreesThatAreNotThere) {
  expect_fault_in(".sitelh", two, {"no tree is chosen: the 2 trees are 'tr1', 'tr2'", "--column"});
  expect_fault_in(".sitelh", two, {"no tree 'tr3': the 2 trees are"}, {.column = "tr3"});
  expect_fault_in(".sitelh", two, {"no tree 2: the 2 trees are", "or by its name"}, {.column = "2"});
  expect_fault_in(".sitelh", one, {"no tree 'x': the 1 tree is 'Site_Lh'"}, {.column = "x"});
  expect_fault_in(".sitelh", two, {"two columns are chosen"}, {.column = "0", .column_name = "tr1"});
  expect_fault_in(".sitelh", "2 1\na -5\na -6\n", {"several trees are called 'a'"}, {.column = "a"});
  expect_fault_in(".sitelh", one, {"no table", "leave out --header"}, {.header = true});
}

TEST(Sitelh, CountsThatDoNotFit) {
  const Options tree{.column = "0"};
  expect_fault_in(".sitelh", "1 4\nSite_Lh -3.25 -1.5\n", {"truncated: 4 numbers", "2 were found"}, tree);
  expect_fault_in(".sitelh", one + "-1\n", {"too long: 4 numbers", "5 were found"}, tree);
  expect_fault_in(".sitelh", two + "-1\n", {"too long: 2 trees with 4 numbers"}, tree);
  expect_fault_in(".sitelh", two.substr(0, two.size() - 6), {"truncated: 2 trees", "tree 1 has 3 numbers"}, tree);
  expect_fault_in(".sitelh", "2 2\na -1 -2", {"truncated"}, tree);
  expect_fault_in(".sitelh", "2 2\na -1 -2                \n", {"truncated", "tree 1 is missing"}, tree);
  // One tree has too few numbers, and the next as many more.
  expect_fault_in(".sitelh", "3 3\na -1 -2 -3\nb -1 -2\nc -1 -2 -3 -4\n",
                  {"tree 2 begins with '-1'", "middle of a line"}, tree);
  for (const char* counts : {"18446744073709551615 2", "2 18446744073709551615", "2 18446744073709551614",
                             "4294967296 4294967296", "9999999999 0"})
    expect_fault_in(".sitelh", counts + std::string("\na -1 -2\nb -1 -2\n"), {"truncated"}, tree);
  expect_fault_in(".sitelh", "0 5\n", {"0 trees"}, tree);
  for (const char* counts : {"-1 2", "1", "1 x", "1.5 2", "18446744073709551616 1", "name -1"})
    expect_fault_in(".sitelh", std::string(counts) + "\nname -1 -2\n", {"which is not a count"}, tree);
  expect_fault_in(".sitelh", " \n", {"truncated in its first line"}, tree);
  expect_fault_in(".sitelh", "1 2\nname -1 x\n", {"line 2", "'x' is not a number"}, tree);
  expect_fault_in(".sitelh", std::string("1 2\n") + std::string(5000, 'n') + " -1 -2\n", {"longer than"}, tree);
}

TEST(Sitelh, EveryTruncationIsFound) {
  for (std::size_t size = 0; size < two.size() - 6; ++size)
    for (const char* tree : {"0", "1"}) {
      const Scratch file(".sitelh", two.substr(0, size));
      expect_fault(fault_of(file.path(), {.column = tree}), {});
    }
}

TEST(Sitelh, OtherTextIsNotTakenForIt) {
  for (const char* content : {"1 4\n-3.25 -1.5\n", "1 4 2\na 1\n", "1\na 1\n", "0 4\na 1\n", "1 4\na b\n", "1 4", ""})
    if (*content != 0) expect_fault_in(".x", content, {"--format: npy, npz"});
}

}  // namespace
}  // namespace steadfold::readers::testing::sitelh_test

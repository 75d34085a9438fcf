#include "rtl_models/document/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace warpline::test {
namespace document_test {

using testing::HasSubstr;

std::string key_of(unsigned parts, const std::string& part = "a") {
  std::string key = part;
  for (unsigned n = 1; n < parts; ++n) key += "." + part;
  return key;
}

/// The faults as they are printed; empty: it parses.
std::string faults_of(const std::string& text) {
  const auto parsed = Document::parse("x.toml", text);
  return parsed.ok() ? std::string{} : parsed.faults().front().text();
}

TEST(DocumentTest, AKeyHasAtMostSixteenParts) {
  EXPECT_EQ(faults_of(key_of(16) + " = 1\n"), "");
  EXPECT_EQ(faults_of("[" + key_of(16) + "]\n" + key_of(16) + " = 1\n"), "") << "each of them";
  const std::string deep = key_of(17);
  for (const std::string& text :
       {deep + " = 1\n", "[" + deep + "]\n", "[[" + deep + "]]\n", "b = { " + deep + " = 1 }\n",
        key_of(17, "\"a.b\"") + " = 1\n", key_of(17, " 'a' ") + " = 1\n", "b = 1\n" + deep})
    EXPECT_THAT(faults_of(text), HasSubstr("a key has at most 16 parts")) << text;
  EXPECT_THAT(faults_of("b = 1\nc = { " + deep + " = 1 }\n"), HasSubstr("x.toml:2:6: error"));
}

TEST(DocumentTest, PointsInStringsAndCommentsMakeNoParts) {
  const std::string deep = key_of(40);
  for (const std::string& text : {"b = \"" + deep + "\" # " + deep + "\n", "b = '" + deep + "'\n",
                                  "b = \"\\\"" + deep + "\"\n", "b = \"\"\"\n\"" + deep + "\"\n\"\"\"\n",
                                  "b = '''\n'" + deep + "'''\n", "b = \"\"\"\\\"\"\"" + deep + "\"\"\"\"\"\n",
                                  std::string("b = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 1.5, 2.5, "
                                              "3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]\n")})
    EXPECT_EQ(faults_of(text), "") << text;
}

TEST(DocumentTest, TextThatEndsWithinAStringIsStillAMessage) {
  for (const char* text : {"b = \"", "b = \"\"\"", "b = '''a", "b = \"\\", "\"", "'", "a.\"", "#"})
    EXPECT_EQ(faults_of(text).empty(), std::string(text) == "#") << text;
}

}  // namespace document_test
}  // namespace warpline::test

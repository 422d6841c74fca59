#include "engine/roles/password_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore {
namespace password_hash_test {

using roles::CheckPassword;
using roles::HashPassword;
using roles::PasswordCheck;
using roles::ProblemOfHash;

TEST(PasswordHashTest, IsSaltedSha512) {
  const std::string hash = HashPassword("secret");
  EXPECT_TRUE(hash.starts_with("$6$")) << hash;
  // The scheme, 16 characters of salt, and 86 of the hash.
  EXPECT_EQ(hash.size(), 3u + 16 + 1 + 86);
  EXPECT_NE(HashPassword("secret"), hash) << "another salt";
  EXPECT_EQ(CheckPassword("secret", hash), PasswordCheck::kRight);
  EXPECT_EQ(CheckPassword("Secret", hash), PasswordCheck::kWrong);
  EXPECT_EQ(CheckPassword("", hash), PasswordCheck::kWrong);
}

// The examples of Ulrich Drepper's SHA-crypt.txt, and of the libraries that brought bcrypt and MD5.
TEST(PasswordHashTest, HashesOfOthersAreChecked) {
  const std::string sha512 =
      "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEO"
      "faS35inz1";
  EXPECT_EQ(CheckPassword("Hello world!", sha512), PasswordCheck::kRight);
  EXPECT_EQ(CheckPassword("Hello world", sha512), PasswordCheck::kWrong);
  const std::string sha256 = "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5";
  EXPECT_EQ(CheckPassword("Hello world!", sha256), PasswordCheck::kRight);
  const std::string bcrypt = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
  EXPECT_EQ(CheckPassword("U*U", bcrypt), PasswordCheck::kRight);
  EXPECT_EQ(CheckPassword("U*V", bcrypt), PasswordCheck::kWrong);
  EXPECT_EQ(CheckPassword("0.s0.l33t", "$1$deadbeef$0Huu6KHrKLVWfqa4WljDE0"),
            PasswordCheck::kRight);
}

TEST(PasswordHashTest, WhatIsNoHashCannotBeChecked) {
  for (const std::string hash : {"", "abc", "$6$", "$7$abc", "$y$j9T$abc$def", "*", "plain"}) {
    const PasswordCheck check = CheckPassword("secret", hash);
    EXPECT_NE(check, PasswordCheck::kRight) << hash;
    if (hash.starts_with("$6$")) continue;
    EXPECT_EQ(check, PasswordCheck::kFailed) << hash;
  }
  EXPECT_EQ(CheckPassword(std::string(roles::kPasswordBytesMax + 1, 'x'), HashPassword("x")),
            PasswordCheck::kFailed);
  const std::string longest(roles::kPasswordBytesMax, 'x');
  EXPECT_EQ(CheckPassword(longest, HashPassword(longest)), PasswordCheck::kRight);
}

TEST(PasswordHashTest, HashesThatTakeLongAreRefused) {
  EXPECT_EQ(ProblemOfHash("$6$rounds=100000$salt$hash"), std::nullopt);
  EXPECT_EQ(ProblemOfHash("$6$rounds=100001$salt$hash"),
            "HASHED PASSWORD asks for 100001 rounds, more than 100000: while one client logs in "
            "others wait");
  EXPECT_TRUE(ProblemOfHash("$5$rounds=99999999999999999999999$salt$hash"));
  EXPECT_EQ(ProblemOfHash("$2y$12$salt"), std::nullopt);
  EXPECT_EQ(ProblemOfHash("$2b$31$salt"),
            "HASHED PASSWORD asks for a bcrypt cost of 31, more than 12: while one client logs in "
            "others wait");
  EXPECT_EQ(ProblemOfHash("anything"), std::nullopt) << "it is kept, and nobody logs in by it";
  EXPECT_EQ(CheckPassword("x", "$6$rounds=100001$salt$hash"), PasswordCheck::kFailed);
}

}  // namespace password_hash_test
}  // namespace liststore

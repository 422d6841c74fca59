# A stranger's project that wants the shared library of liststore-dev.
cmake_minimum_required(VERSION 3.16)
project(stranger LANGUAGES CXX)

find_package(liststore 0.1 REQUIRED COMPONENTS shared)
add_executable(stranger ../main.cc)
target_link_libraries(stranger PRIVATE liststore::shared)

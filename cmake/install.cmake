# The package: the command, the libraries of every folder but the command's, their headers as include/warpline/FOLDER/x.h, and
# what find_package and pkg-config read. It holds no absolute path of its own, so the prefix may be moved.
include(CMakePackageConfigHelpers)

get_property(targets GLOBAL PROPERTY WARPLINE_TARGETS)
list(REMOVE_ITEM targets warpline_cli)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpline)
install(TARGETS warpline)
install(TARGETS warpline_regs_program EXPORT warpline-targets)
install(TARGETS ${targets} warpline_rtl_models warpline_platform EXPORT warpline-targets FILE_SET HEADERS)
install(EXPORT warpline-targets NAMESPACE warpline:: DESTINATION ${package_dir})

# Users include "warpline/rtl_models/sim/engine.h": a header of their own called "rtl_models/..." is never taken for ours.
get_property(headers GLOBAL PROPERTY WARPLINE_HEADERS)
install(CODE "
  set(folders \"${PROJECT_SOURCE_DIR};${PROJECT_BINARY_DIR}/include/regs\")
  set(headers \"${headers}\")
  set(renamed \"${PROJECT_SOURCE_DIR}/cmake/renamed_headers.txt\")
  set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/warpline\")")
install(SCRIPT cmake/install_headers.cmake)

configure_package_config_file(cmake/warpline-config.cmake.in warpline-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change interfaces.
write_basic_package_version_file(warpline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpline-config.cmake ${PROJECT_BINARY_DIR}/warpline-config-version.cmake
              cmake/warpline_registers.cmake
        DESTINATION ${package_dir})

# Static libraries are linked in this order: who needs another comes before it.
set(libraries "")
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(PREPEND libraries -l${target})
  endif()
endforeach()
list(JOIN libraries " " WARPLINE_PC_LIBRARIES)
get_property(packages GLOBAL PROPERTY WARPLINE_PACKAGES)
list(REMOVE_DUPLICATES packages)
list(JOIN packages ", " WARPLINE_PC_PACKAGES)
file(RELATIVE_PATH WARPLINE_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/warpline.pc.in warpline.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/warpline.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The pages, and all that they lead to. Links between them are made to fit the package.
set(data ${CMAKE_INSTALL_DATADIR}/warpline)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS PATTERN generate EXCLUDE)
get_property(manuals TARGET warpline_regs PROPERTY WARPLINE_MANUALS)
install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_DOCDIR}/manuals)
install(DIRECTORY sw/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY sw/kernels DESTINATION ${data} FILES_MATCHING REGEX "\\.(cu|ptx|toml)$")
install(DIRECTORY tests/litmus DESTINATION ${data} FILES_MATCHING REGEX "\\.(litmus|md)$")
install(DIRECTORY waveforms DESTINATION ${data} FILES_MATCHING REGEX "\\.(gtkw|png|md)$")
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     docs/*.md sw/examples/*.md tests/litmus/*.md waveforms/*.md)
install(CODE "set(WARPLINE_SOURCE \"${PROJECT_SOURCE_DIR}\")
set(WARPLINE_PLACES sw/examples=${CMAKE_INSTALL_DOCDIR}/examples sw/kernels=${data}/kernels tests/litmus=${data}/litmus
    waveforms=${data}/waveforms sw/regs/peer.toml=${CMAKE_INSTALL_DOCDIR}/manuals/peer.md)
set(WARPLINE_ELSEWHERE ${CMAKE_INSTALL_DOCDIR})
set(WARPLINE_PAGES \"README.md;CHANGELOG.md;CONTRIBUTING.md;${pages}\")")
install(SCRIPT cmake/installed_pages.cmake)

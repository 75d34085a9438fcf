# The package: the command, the libraries of every folder but those of the command and of programs, their headers as include/warpline/FOLDER/x.h, and
# what find_package and pkg-config read. It holds no absolute path of its own, so the prefix may be moved.
#
# Libraries come in one of two forms, with the same targets: an archive of each folder, or, with BUILD_SHARED_LIBS, one shared library
# of the same objects. `cmake --install` installs the form that was asked for; the other is the component `archives` or `shared`.
include(CMakePackageConfigHelpers)

get_property(targets GLOBAL PROPERTY WARPLINE_TARGETS)
list(REMOVE_ITEM targets ${WARPLINE_APPLICATIONS})
get_property(forwarding GLOBAL PROPERTY WARPLINE_FORWARDING)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpline)
get_property(packages GLOBAL PROPERTY WARPLINE_PACKAGES)
list(REMOVE_DUPLICATES packages)
list(JOIN packages ", " packages)
if(BUILD_SHARED_LIBS)
  set(archives COMPONENT archives EXCLUDE_FROM_ALL)
  set(shared "")
else()
  set(archives "")
  set(shared COMPONENT shared EXCLUDE_FROM_ALL)
endif()

install(TARGETS warpline)

# What pkg-config reads. `libraries`: what is linked. `requires`: packages that whoever links needs besides what the headers include.
file(RELATIVE_PATH WARPLINE_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
function(warpline_install_pc folder libraries requires component)
  set(WARPLINE_PC_LIBRARIES "${libraries}")
  set(WARPLINE_PC_REQUIRES "${requires}")
  configure_file(cmake/warpline.pc.in ${folder}/warpline.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${folder}/warpline.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${component})
endfunction()

# Archives. They are linked in this order: who needs another comes before it.
install(TARGETS warpline_regs_program EXPORT warpline-archives ${archives})
install(TARGETS ${targets} warpline_rtl_models warpline_platform EXPORT warpline-archives ARCHIVE ${archives} FILE_SET HEADERS ${archives})
install(EXPORT warpline-archives NAMESPACE warpline:: DESTINATION ${package_dir} ${archives})
set(libraries "")
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(PREPEND libraries -l${target})
  endif()
endforeach()
list(JOIN libraries " " libraries)
warpline_install_pc(archives "${libraries}" "Requires: systemc >= 2.3.3, ${packages}" "${archives}")

# The shared library, and targets of the same names that lead to it.
install(TARGETS warpline_regs_program EXPORT warpline-shared ${shared})
install(TARGETS warpline_shared ${forwarding} EXPORT warpline-shared LIBRARY ${shared} FILE_SET HEADERS ${shared})
install(EXPORT warpline-shared NAMESPACE warpline:: DESTINATION ${package_dir} ${shared})
warpline_install_pc(shared -lwarpline "Requires: systemc >= 2.3.3\nRequires.private: ${packages}" "${shared}")

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
              cmake/warpline_registers.cmake cmake/warpline_systemc.cmake
        DESTINATION ${package_dir})

# The pages, and all that they lead to. Links between them are made to fit the package.
set(data ${CMAKE_INSTALL_DATADIR}/warpline)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS PATTERN generate EXCLUDE)
foreach(registers warpline_regs warpline_nvme_regs warpline_gpu_regs)
  get_property(manuals TARGET ${registers} PROPERTY WARPLINE_MANUALS)
  install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_DOCDIR}/manuals)
endforeach()
install(DIRECTORY sw/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY sw/kernels DESTINATION ${data} FILES_MATCHING REGEX "\\.(cu|ptx|toml)$")
install(DIRECTORY tests/litmus DESTINATION ${data} FILES_MATCHING REGEX "\\.(litmus|md)$")
install(DIRECTORY waveforms DESTINATION ${data} FILES_MATCHING REGEX "\\.(gtkw|png|md)$")
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     docs/*.md sw/examples/*.md tests/litmus/*.md waveforms/*.md)
install(CODE "set(WARPLINE_SOURCE \"${PROJECT_SOURCE_DIR}\")
set(WARPLINE_PLACES sw/examples=${CMAKE_INSTALL_DOCDIR}/examples sw/kernels=${data}/kernels tests/litmus=${data}/litmus
    waveforms=${data}/waveforms sw/regs/peer.toml=${CMAKE_INSTALL_DOCDIR}/manuals/peer.md
    sw/regs/nvme.toml=${CMAKE_INSTALL_DOCDIR}/manuals/nvme.md sw/regs/gpu.toml=${CMAKE_INSTALL_DOCDIR}/manuals/gpu.md)
set(WARPLINE_ELSEWHERE ${CMAKE_INSTALL_DOCDIR})
set(WARPLINE_PAGES \"README.md;CHANGELOG.md;CONTRIBUTING.md;${pages}\")")
install(SCRIPT cmake/installed_pages.cmake)

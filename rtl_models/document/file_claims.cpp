#include "rtl_models/document/file_claims.h"

#include "rtl_models/document/file_identity.h"

namespace warpline {

void FileClaims::add(const std::string& path, const std::string& what) {
  if (const std::string file = identity_of(path).file; !file.empty()) files_[file] = what;
}

std::string FileClaims::claim(const std::string& path, const std::string& what) {
  const FileIdentity identity = identity_of(path);
  if (const auto same = files_.find(identity.file); same != files_.end())
    return path + " is " + same->second + ", too";
  if (const auto below = folders_.find(identity.file); below != folders_.end())
    return path + " is a folder on the way to " + below->second + ", too";
  for (const std::string& folder : identity.folders)
    if (const auto above = files_.find(folder); above != files_.end())
      return path + " leads through " + above->second;
  if (!identity.file.empty()) files_.emplace(identity.file, what);
  for (const std::string& folder : identity.folders)
    if (!folder.empty()) folders_.emplace(folder, what);
  return {};
}

}  // namespace warpline

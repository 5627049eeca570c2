/** Finds and loads addons. Every addon is optional. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type AddonName, addonFile, addonVariable, isTrusted } from "../../native/addon-location.js";
import { findPrebuiltAddon } from "../../native/prebuilt-addon.js";
import { errorMessage } from "../../shared/text/error-message.js";

/** The result of a lookup: the addon and its file, or the reason why there is none. */
export type AddonLookup<Addon> =
  | { readonly addon: Addon; readonly file: string }
  /**
   * `why` completes the sentence "… needs the addon, and …". `off` means that the user has switched the addon off, so
   * no warning is due.
   */
  | { readonly addon: undefined; readonly why: string; readonly off: boolean };

/**
 * Loads an addon if it exists and can be trusted. An addon that this user has built precedes that of an optional
 * package. The latter needs no check of its owner, because it is installed together with this code.
 */
export function findAddon<Addon>(name: AddonName): AddonLookup<Addon> {
  const given = process.env[addonVariable(name)];
  if (given === "off") return missing(`${addonVariable(name)} is "off"`, true);
  if (process.platform !== "linux") return missing(`there is none for ${process.platform}`, false);
  try {
    const file = given ? resolve(given) : addonFile(name);
    if (existsSync(file)) {
      // A file that the user has named is trusted.
      if (!given && !isTrusted(file)) return missing(`others than this user could have written ${file}`, false);
      return load(file);
    }
    const prebuilt = given ? undefined : findPrebuiltAddon(name, import.meta.url);
    if (prebuilt === undefined) return missing(`it has not been built: there is no ${file}`, false);
    return "why" in prebuilt ? missing(prebuilt.why, false) : load(prebuilt.file);
  } catch (error) {
    return missing(`it cannot be loaded: ${errorMessage(error)}`, false);
  }
}

/** Loads an addon as `require` does, without its search for the file, which takes longer than the loading. */
function load<Addon>(file: string): AddonLookup<Addon> {
  const module = { exports: {} };
  process.dlopen(module, file);
  return { addon: module.exports as Addon, file };
}

function missing(why: string, off: boolean): AddonLookup<never> {
  return { addon: undefined, why, off };
}

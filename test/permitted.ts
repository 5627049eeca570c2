/**
 * What tests need of the system that not everyone may do: network namespaces, mounts. Where it is not possible these tests are left
 * out, unless everything is to be tested: then that is an error.
 */

/**
 * @param tests those that need it, for people
 * @param needs what it takes
 * @returns `possible`
 * @throws Error instead of returning false, when VICEROY_PERMISSIONS is "required"
 */
export function permitted(tests: string, needs: string, possible: boolean): boolean {
  if (possible) return true;
  if (process.env["VICEROY_PERMISSIONS"] === "required") {
    throw new Error(`cannot test ${tests}: it takes ${needs}. Run the tests where that is given`);
  }
  console.warn(`skipped: ${tests} (it takes ${needs})`);
  return false;
}

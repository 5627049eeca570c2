/** The environment variables by which a process gets its runtime environment. */

/** The folder with the installed packages. What a process starts gets them, too. */
export const packagesVariable = "VICEROY_PACKAGES";

/** The working directory of a process, but not of those that it starts. */
export const workingDirectoryVariable = "VICEROY_WORKING_DIRECTORY";

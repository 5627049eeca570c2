/** The Node.js that hosts need. */

/** The oldest version that Viceroy supports. */
export const oldestNode = "20.9";

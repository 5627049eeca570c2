/** The functions that the workers of all subjects run. */
exports.nothing = () => {};
exports.same = (n) => n;

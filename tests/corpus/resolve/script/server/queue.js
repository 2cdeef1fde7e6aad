exports.readQueue = function readQueue() {}; //! readQueue

function drain() {}

module.exports.drain = drain; //! drain

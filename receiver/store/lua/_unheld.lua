-- Gives back what a worker holds and does not run, as far as claims up to acknowledged brought it: the reply of such
-- a claim never arrived, and that costs no attempt.
local function hand_back_unheld(worker, runs, acknowledged)
  local held = redis.call('HGETALL', key_held(worker))
  for i = 1, #held, 2 do
    local id = held[i]
    if id ~= 'claim' and not runs[id] and tonumber(held[i + 1]) <= acknowledged then
      local task = redis.call('HMGET', key_task(id), 'queue', 'score', 'worker')
      redis.call('HDEL', key_held(worker), id)
      if task[3] == worker then
        hand_back(id, worker, task[1], task[2], 'handed_back')
      end
    end
  end
end

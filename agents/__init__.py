"""All that learns: training, pools of opponents, exploiters, publishing."""
